"""How results move: from stage to stage within one search, and between two searches for the same question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from normrag_core.model import Chunk
from normrag_core.trace import Trace


@dataclass(frozen=True, slots=True)
class Step:
    """One result at one stage. result: its final rank; rank: None where the stage did not rank it."""

    result: int
    stage: str
    rank: int | None


def steps(trace: Trace, most: int = 10) -> tuple[Step, ...]:
    """The ranks of the first results at every stage, in the order in which the stages ran."""
    return tuple(
        Step(r.rank, s.name, r.ranks[s.name][0] if s.name in r.ranks else None)
        for r in trace.results[:most]
        for s in trace.stages
    )


@dataclass(frozen=True, slots=True)
class Change:
    """One unit in two rankings. before, after: its best rank among the results, None where it is none.

    elsewhere: for a unit that is a result of one side only, its rank in the whole ranking of the other; None where it has none.
    """

    unit: str
    before: int | None
    after: int | None
    elsewhere: int | None = None

    @property
    def kind(self) -> Literal["same", "up", "down", "new", "lost"]:
        if self.before is None:
            return "new"
        if self.after is None:
            return "lost"
        return "same" if self.before == self.after else "up" if self.after < self.before else "down"


def compare(
    before: Trace, before_chunks: tuple[Chunk, ...], after: Trace, after_chunks: tuple[Chunk, ...]
) -> tuple[Change, ...]:
    """Units that are a result of either side: those of `after` in its order, then what was lost.

    Chunk lists of two configurations may differ, so results are matched by their unit; its best chunk counts. The chunk lists
    are those that the indices in each trace are places in.
    """
    old, new = _units(before), _units(after)
    everywhere_old, everywhere_new = _all_units(before, before_chunks), _all_units(after, after_chunks)
    kept = [Change(u, old.get(u), rank, None if u in old else everywhere_old.get(u)) for u, rank in new.items()]
    return (*kept, *(Change(u, rank, None, everywhere_new.get(u)) for u, rank in old.items() if u not in new))


def _units(trace: Trace) -> dict[str, int]:
    """Unit → best rank among the results, best first."""
    ranks: dict[str, int] = {}
    for result in trace.results:
        ranks.setdefault(result.chunk.unit, result.rank)
    return ranks


def _all_units(trace: Trace, chunks: tuple[Chunk, ...]) -> dict[str, int]:
    """Unit → best rank in the whole final ranking."""
    ranks: dict[str, int] = {}
    for rank, index in enumerate(trace.final.order.tolist(), 1):
        ranks.setdefault(chunks[index].unit, rank)
    return ranks
