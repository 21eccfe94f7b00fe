"""One question of a run looked at closely: where each configuration's stages put what was to be found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from normrag_core.evaluation.questions import Question
from normrag_core.evaluation.runs import Matcher, RunResult, Searcher
from normrag_core.model import Chunk


@dataclass(frozen=True, slots=True)
class Path:
    """The way of a goal through the stages of one configuration.

    chunk: the one that satisfies the goal and came furthest; None where no chunk does. ranks: stage → its rank there, None
    where the stage did not rank it. above: the first results before it (all that are kept where it was not found).
    """

    configuration: str
    goal: int
    chunk: Chunk | None
    ranks: dict[str, int | None]
    above: tuple[Chunk, ...]


def paths(retriever: Searcher, result: RunResult, question: Question, names: Sequence[str], above: int = 3) -> list[Path]:
    """Searches again under each named configuration. The corpus must be the run's. KeyError for a question it did not ask."""
    out = []
    for name in names:
        config = result.configuration(name).settings
        chunks = retriever.chunks(config)
        index = {c.id: i for i, c in enumerate(chunks)}
        trace = retriever.search(question.question, config)
        for goal, ids in enumerate(result.judgements[Matcher.key(config)][question.id]):
            ways: list[tuple[int, dict[str, int | None]]] = []
            for id_ in ids:
                at = [(s.name, s.position(index[id_])) for s in trace.stages]
                ways.append((index[id_], {stage: None if p is None else p[0] for stage, p in at}))
            # The best at the last stage; of those that were lost, the one that was best at the stage that ranked it last.
            best = min(ways, key=lambda way: [rank or 10**9 for rank in reversed(way[1].values())], default=None)
            if best is None:
                out.append(Path(name, goal, None, {s.name: None for s in trace.stages}, ()))
                continue
            final = best[1][trace.final.name]
            before = trace.final.order[: min(above, above if final is None else final - 1)]
            out.append(Path(name, goal, chunks[best[0]], best[1], tuple(chunks[i] for i in before)))
    return out
