"""Every setting has a label and a help text, and every value of a choice a word: a new setting must not break the page."""

from dataclasses import fields
from typing import get_args

from normrag_core import config
from normrag_core.config import RetrieverConfig
from normrag_core.trace import StageName
from pages import _theme as theme
from pages import _words as words


def test_every_setting_is_explained() -> None:
    assert {f.name for f in fields(RetrieverConfig)} == set(words.SETTING)
    assert all(w.label and len(w.help) > 20 for w in words.SETTING.values())


def test_every_choice_has_a_word() -> None:
    kinds = {
        "chunking": config.Chunking,
        "context": config.Context,
        "ranking": config.Ranking,
        "tokenizer": config.Tokenizer,
        "formula": config.Formula,
    }
    for name, kind in kinds.items():
        assert set(words.CHOICE[name]) == set(get_args(kind)), name


def test_every_stage_and_relation_has_a_colour() -> None:
    assert set(theme.STAGE) == set(words.STAGE_HELP) == set(get_args(StageName))
    assert set(theme.RELATION) == set(config.RELATIONS)
