"""Settings of the retriever: validated, hashable, JSON in and out; the presets as data.

The eight presets are a reconstruction: the paper (arXiv 2604.09868) names eight configurations but not their settings.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

Chunking = Literal["vanilla", "structured", "structured+chunks"]
Context = Literal["none", "document", "path"]
Ranking = Literal["bm25", "dense", "bm25+dense", "rrf", "weighted"]
Formula = Literal["paper", "best-seed"]
Tokenizer = Literal["domain", "word"]
Relation = Literal["parent", "child", "sibling", "cites", "cited-by"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)


class ConfigError(ValueError):
    """A setting is out of range or two settings exclude each other; the message names the setting and both values."""


@dataclass(frozen=True, slots=True)
class RetrieverConfig:
    """Every choice of the ranking. Field by field:

    chunking, max_words, context: module 1. `context` is what a chunk tells the rankers beside its own words.
    headings: whether chunks without text of their own are ranked: clauses that only have sub-clauses, heads of split clauses.
        They lend their vectors to the smoothing all the same (ours, not the paper's).
    ranking: what orders the candidates. "bm25" and "dense" are the reference points and use one order over the whole
        corpus; "bm25+dense" re-ranks the BM25 prefilter by cosine; "rrf" fuses both orders of the candidates by
        reciprocal rank; "weighted" adds z-normalised scores (ours, not the paper's).
    prefilter_n: N, candidates kept by BM25. tokenizer, stem, expand_abbreviations, bm25_k1, bm25_b, context_weight:
        module 4. expand_abbreviations: long forms from the loaded standards count half beside the short ones, and back.
        context_weight: how much a context word counts beside one of the text (1 = like text). idf_power: below 1 the rarity
        of a word counts for less and the number of the question's words found for more (1 = BM25; see `bm25`).
    best_part: whole clauses are ranked by their best part of at most max_words, see `best_part`; split ones are anyway.
    name_weight: how much a standard that the question names counts, beside a word that only its chunks hold; 0 takes its
        number as ordinary words (ours, not the paper's; see `named`).
    alpha, iterations, smoothing_relations: module 3. alpha = 1 switches smoothing off.
    rrf_k, bm25_weight, dense_weight: module 6; weights apply to "rrf" and "weighted".
    expansion, seeds, hops, formula, expansion_weight, expansion_relations: module 7.
    edition_preference: "latest" moves chunks of superseded editions behind the latest loaded one; "all" does not.
    rerank_n: results re-scored by a cross-encoder after everything else; 0 switches it off. rerank_weight: how much it says,
        from 0 to 1, the rest being the score they had before.
    top_k: results returned.
    """

    chunking: Chunking = "structured+chunks"
    max_words: int = 300
    context: Context = "path"
    headings: bool = True
    ranking: Ranking = "rrf"
    prefilter_n: int = 200
    tokenizer: Tokenizer = "domain"
    stem: bool = True
    expand_abbreviations: bool = False
    bm25_k1: float = 1.5
    bm25_b: float = 0.75
    context_weight: float = 1.0
    idf_power: float = 1.0
    best_part: bool = False
    name_weight: float = 0.0
    alpha: float = 1.0
    iterations: int = 1
    smoothing_relations: tuple[Relation, ...] = RELATIONS
    rrf_k: int = 60
    bm25_weight: float = 1.0
    dense_weight: float = 1.0
    expansion: bool = False
    seeds: int = 10
    hops: int = 1
    formula: Formula = "paper"
    expansion_weight: float = 0.5
    expansion_relations: tuple[Relation, ...] = ("parent", "child", "cites", "cited-by")
    edition_preference: Literal["all", "latest"] = "all"
    rerank_n: int = 0
    rerank_weight: float = 0.5
    top_k: int = 10

    def __post_init__(self) -> None:
        for name in ("smoothing_relations", "expansion_relations"):
            given = tuple(getattr(self, name))
            unknown = [r for r in given if r not in RELATIONS]
            if unknown:
                raise ConfigError(f"{name}: expected some of {', '.join(RELATIONS)}; found {', '.join(map(str, unknown))}")
            object.__setattr__(self, name, tuple(r for r in RELATIONS if r in given))
        for name, kind in (
            ("chunking", Chunking),
            ("context", Context),
            ("ranking", Ranking),
            ("formula", Formula),
            ("tokenizer", Tokenizer),
        ):
            if getattr(self, name) not in get_args(kind):
                raise ConfigError(f"{name}: expected one of {', '.join(get_args(kind))}; found {getattr(self, name)!r}")
        if self.edition_preference not in ("all", "latest"):
            raise ConfigError(f"edition_preference: expected all or latest; found {self.edition_preference!r}")
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ConfigError(f"{name}: expected a number from {low:g} to {high:g}; found {value!r}")
            if name in INTEGERS and not isinstance(value, int):
                raise ConfigError(f"{name}: expected a whole number; found {value!r}")
            if not low <= value <= high:
                raise ConfigError(f"{name}: expected {low:g} to {high:g}; found {value:g}")
        for name in ("headings", "best_part", "expansion", "stem", "expand_abbreviations"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name}: expected true or false; found {getattr(self, name)!r}")
        if self.chunking == "vanilla" and (self.smoothing or self.expansion):
            wanted = "smoothing (alpha < 1)" if self.smoothing else "expansion"
            raise ConfigError(
                f"vanilla chunks have no neighbours, so {wanted} has nothing to work on: choose structured chunks"
            )
        if self.ranking in ("rrf", "weighted") and not self.bm25_weight and not self.dense_weight:
            raise ConfigError("bm25_weight and dense_weight: expected at least one above 0; found both 0")

    @property
    def smoothing(self) -> bool:
        return self.alpha < 1.0

    @property
    def uses_dense(self) -> bool:
        return self.ranking != "bm25"

    @property
    def uses_bm25(self) -> bool:
        return self.ranking != "dense"

    @property
    def prefilter(self) -> RetrieverConfig:
        """The BM25 ranking that a search begins with and nothing of what follows: settings that share it share its outcome."""
        return RetrieverConfig(
            ranking="bm25", prefilter_n=self.depth, top_k=1, **{name: getattr(self, name) for name in PREFILTER_SETTINGS}
        )

    @property
    def depth(self) -> int:
        """How many a ranking of the whole corpus keeps."""
        return max(self.prefilter_n, self.top_k if self.ranking in ("bm25", "dense") else 0)

    def with_(self, **changes: Any) -> RetrieverConfig:
        """A copy with some settings changed, validated again."""
        return replace(self, **changes)

    def diff(self, other: RetrieverConfig) -> dict[str, tuple[Any, Any]]:
        """Settings that differ: name → (own value, other's value)."""
        return {
            f.name: (getattr(self, f.name), getattr(other, f.name))
            for f in fields(self)
            if getattr(self, f.name) != getattr(other, f.name)
        }

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | dict[str, Any]) -> RetrieverConfig:
        """From JSON text or a decoded object; unknown names and bad values raise ConfigError."""
        try:
            data = json.loads(text) if isinstance(text, str) else text
        except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
            raise ConfigError(f"expected JSON; found {error}") from None
        if not isinstance(data, dict):
            raise ConfigError(f"expected an object of settings; found {type(data).__name__}")
        known = {f.name for f in fields(cls)}
        unknown = sorted(set(data) - known)
        if unknown:
            raise ConfigError(f"unknown setting {', '.join(unknown)}; known: {', '.join(sorted(known))}")
        try:
            settings: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
            return cls(**settings)
        except TypeError as error:
            raise ConfigError(str(error)) from None


RANGES: dict[str, tuple[float, float]] = {
    "max_words": (20, 5000),
    "prefilter_n": (1, 1_000_000),
    "bm25_k1": (0.0, 10.0),
    "bm25_b": (0.0, 1.0),
    "context_weight": (0.0, 10.0),
    "idf_power": (0.0, 2.0),
    "name_weight": (0.0, 10.0),
    "alpha": (0.0, 1.0),
    "iterations": (1, 10),
    "rrf_k": (1, 10_000),
    "bm25_weight": (0.0, 100.0),
    "dense_weight": (0.0, 100.0),
    "seeds": (1, 1000),
    "hops": (1, 5),
    "expansion_weight": (0.0, 10.0),
    "rerank_n": (0, 200),
    "rerank_weight": (0.0, 1.0),
    "top_k": (1, 10_000),
}
PREFILTER_SETTINGS = (
    *("chunking", "max_words", "context", "headings", "tokenizer", "stem", "expand_abbreviations"),
    *("bm25_k1", "bm25_b", "context_weight", "idf_power", "best_part", "name_weight"),
)
INTEGERS = frozenset({"max_words", "prefilter_n", "iterations", "rrf_k", "seeds", "hops", "rerank_n", "top_k"})


@dataclass(frozen=True, slots=True)
class Preset:
    """A named configuration. origin: "paper (reconstructed)", "reference" or "ours"."""

    name: str
    config: RetrieverConfig
    description: str
    origin: str = "paper (reconstructed)"


_VANILLA = RetrieverConfig(chunking="vanilla", context="none")
_STRUCTURED = RetrieverConfig(chunking="structured")
_CHUNKED = RetrieverConfig()
DEFAULT_ALPHA = 0.8
# Measured on real standards and on the sample, see docs/reproduction.md.
_TUNED = RetrieverConfig(
    headings=False,
    ranking="weighted",
    prefilter_n=100,
    bm25_k1=0.9,
    bm25_b=0.6,
    idf_power=0.7,
    name_weight=3.0,
    alpha=0.6,
    dense_weight=0.4,
)

PRESETS: dict[str, Preset] = {
    p.name: p
    for p in (
        Preset("vanilla-dense", _VANILLA.with_(ranking="dense"), "flat windows, cosine over the whole corpus"),
        Preset("vanilla-bm25-dense", _VANILLA.with_(ranking="bm25+dense"), "flat windows, BM25 prefilter, cosine"),
        Preset("vanilla-rrf", _VANILLA, "flat windows, BM25 and cosine fused by rank"),
        Preset("structured-rrf", _STRUCTURED, "one chunk a clause, BM25 and cosine fused by rank"),
        Preset("structured-smoothed", _STRUCTURED.with_(alpha=DEFAULT_ALPHA), "one chunk a clause, smoothed, fused by rank"),
        Preset("chunked-rrf", _CHUNKED, "clauses split at 300 words, BM25 and cosine fused by rank"),
        Preset("chunked-smoothed", _CHUNKED.with_(alpha=DEFAULT_ALPHA), "split clauses, smoothed vectors, fused by rank"),
        Preset(
            "chunked-expanded",
            _CHUNKED.with_(alpha=DEFAULT_ALPHA, expansion=True),
            "split clauses, smoothed vectors, fused by rank, then expanded over the graph",
        ),
        Preset("bm25", _CHUNKED.with_(ranking="bm25"), "BM25 alone over split clauses", "reference"),
        Preset("dense", _CHUNKED.with_(ranking="dense"), "cosine alone over split clauses", "reference"),
        Preset(
            "plain-bm25",
            _VANILLA.with_(ranking="bm25", tokenizer="word", stem=False),
            "what rank_bm25's README does, over flat windows",
            "reference",
        ),
        Preset(
            "tuned",
            _TUNED.with_(chunking="structured", best_part=True),
            "whole clauses, tuned on real standards and questions",
            "ours",
        ),
        Preset("tuned-chunked", _TUNED, "split clauses, tuned on real standards: less to read for the same finds", "ours"),
    )
}
PAPER_PRESETS: tuple[str, ...] = tuple(n for n, p in PRESETS.items() if p.origin.startswith("paper"))
DEFAULT_PRESET = "tuned-chunked"  # what measured best among those with short results, see docs/reproduction.md
