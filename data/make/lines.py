"""Words into printed lines: widths, breaking, hyphenation. No page, no position yet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from canvas import text_width
from source import Run

DIVIDED = """
com-pati-bil-ity im-mu-nity elec-tro-mag-netic equip-ment measure-ment measure-ments require-ment
require-ments per-form-ance man-u-fac-turer an-cil-lary fre-quency fre-quencies con-tin-u-ous tran-sient mod-u-la-tion
com-mu-ni-ca-tion con-fig-u-ra-tion re-ceiver re-ceivers trans-mit-ter trans-mit-ters in-for-ma-tion op-er-a-tion
ter-mi-nal ter-mi-nals emis-sion emis-sions ap-pli-ca-ble doc-u-ment in-ter-fer-ence en-vi-ron-ment speci-fied
sep-a-rately re-spec-tive de-gra-da-tion an-tenna evalu-ation dur-ing ac-cord-ing ref-er-ence trans-mis-sion
as-sess-ment cri-te-rion cri-te-ria con-nec-tion con-nected dis-turb-ance po-lar-i-sa-tion lab-o-ra-tory
lab-o-ra-to-ries am-pli-fier sen-si-tiv-ity con-di-tions ar-range-ment func-tions func-tion de-vices ap-pa-ratus
bat-tery charg-ing in-stal-la-tion un-cer-tainty con-tri-bu-tion in-ter-rup-tion net-work phe-nom-ena dis-tance
pos-si-ble nec-es-sary be-tween dif-fer-ent dif-fer-ence other-wise with-out be-fore sta-tion sta-tions
"""
"""Common words of these texts, with the places where they may be divided at a line end."""

HYPHENATIONS = {word.replace("-", ""): word for word in DIVIDED.split()}


@dataclass(frozen=True, slots=True)
class Fragment:
    """Part of a word in one look. rise: points above the baseline."""

    text: str
    font: str
    size: float
    rise: float = 0.0
    cite: int | None = None

    @property
    def width(self) -> float:
        return text_width(self.text, self.font, self.size)


@dataclass(frozen=True, slots=True)
class Word:
    """Fragments without a space between. glued: no space before the word either. page_break: a new page starts with it."""

    fragments: tuple[Fragment, ...]
    glued: bool = False
    page_break: bool = False

    @property
    def width(self) -> float:
        return sum(f.width for f in self.fragments)


def words_of(runs: list[Run], family: str, size: float) -> list[Word]:
    """Runs as words; a hyphenated word of lower-case letters may be divided after its own hyphen."""
    words: list[list[Fragment]] = [[]]
    glue, breaks = [False], [False]

    def start(glued: bool) -> None:
        if words[-1]:
            words.append([])
            glue.append(glued)
            breaks.append(False)

    for run in runs:
        font = f"{family}-bold" if run.bold and "-" not in family else family
        points, rise = (size * 0.7, size * 0.35) if run.mark == "sup" else (size, 0.0)
        if run.mark == "sub":
            points, rise = size * 0.7, -size * 0.15
        for i, piece in enumerate(re.split(r"( +|(?<=[a-z]{3}-)(?=[a-z]{3}))", run.text)):
            if i % 2:
                start(glued=not piece)
                continue
            if piece.startswith("\\p"):
                breaks[-1], piece = True, piece[2:]
            if piece:
                words[-1].append(Fragment(piece, font, points, rise, run.cite))
    return [Word(tuple(w), g, b) for w, g, b in zip(words, glue, breaks, strict=True) if w]


def break_lines(words: list[Word], width: float, size: float, hyphen: str = "") -> Iterator[tuple[list[Word], bool]]:
    """Fill lines greedily; yields (words of the line, whether the next line starts a new page).

    hyphen: the character to divide words of HYPHENATIONS with; "" divides none.
    """
    space = text_width(" ", words[0].fragments[0].font, size) if words else 0.0
    line: list[Word] = []
    used = 0.0
    queue = list(words)[::-1]
    while queue:
        word = queue.pop()
        if word.page_break and line:
            yield line, True
            line, used = [], 0.0
            word = replace(word, page_break=False)
        gap = 0.0 if word.glued or not line else space
        if line and used + gap + word.width > width:
            parts = _divide(word, width - used - gap, hyphen) if hyphen else None
            if parts:
                line.append(parts[0])
                word = parts[1]
            yield line, False
            line, used, gap = [], 0.0, 0.0
        line.append(word)
        used += gap + word.width
    if line:
        yield line, False


def _divide(word: Word, room: float, hyphen: str) -> tuple[Word, Word] | None:
    if len(word.fragments) != 1 or word.fragments[0].cite is not None:
        return None
    fragment = word.fragments[0]
    match = re.fullmatch(r"([A-Za-z]+)(\W*)", fragment.text)
    divided = HYPHENATIONS.get(match[1].lower()) if match else None
    if not match or not divided:
        return None
    syllables = divided.split("-")
    for count in range(len(syllables) - 1, 0, -1):
        length = len("".join(syllables[:count]))
        head = replace(fragment, text=fragment.text[:length] + hyphen)
        if length >= 2 and head.width <= room:
            return Word((head,), word.glued), Word((replace(fragment, text=fragment.text[length:]),))
    return None
