"""`evaluate DIR QUESTIONS`: every named configuration against a question set, as a table and as RESULTS.json."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from normrag_core.commands.folder import NothingReadError, open_retriever, say
from normrag_core.config import PRESETS, ConfigError, RetrieverConfig
from normrag_core.evaluation import records
from normrag_core.evaluation.questions import QuestionError, QuestionSet, load_questions
from normrag_core.evaluation.runs import RunResult, run
from normrag_core.evaluation.statistics import compare
from normrag_core.evaluation.witnesses import find_missing
from normrag_core.model import Corpus


class UsageError(ValueError):
    """An argument cannot be used; the message says what was expected and what was found."""


def evaluate(
    folder: Path,
    questions_file: Path,
    presets: str,
    ks: Sequence[int],
    out: Path | None,
    settings_file: Path | None = None,
    threshold: float = 0.75,
) -> int:
    """Prints the table, then the comparisons in words. Status 1 where no question or no document could be read."""
    configs = named_configs(presets, settings_file)
    questions = read_questions(questions_file)
    if questions is None:
        return 1
    begun = time.perf_counter()
    try:
        retriever = open_retriever(folder, list(configs.values()), [q.question for q in questions])
    except NothingReadError as error:
        say(str(error))
        return 1
    opened = time.perf_counter() - begun
    result = run(retriever, questions, configs, ks, threshold=threshold, progress=_progress)
    for text in missing_goals(result, retriever.corpus, questions, threshold):
        say(f"warning: {text}")
    if out is not None:
        out.write_text(records.dump(result), "utf8")
    print(table(result))
    print(timing(result, opened))
    for line in verdicts(result):
        print(line)
    return 0


def named_configs(presets: str, settings_file: Path | None = None) -> dict[str, RetrieverConfig]:
    """Configurations of "all" or "a,b", and of a JSON file {name: settings}. UsageError names what is not known."""
    names = list(PRESETS) if presets == "all" else [n.strip() for n in presets.split(",") if n.strip()]
    unknown = [n for n in names if n not in PRESETS]
    if unknown:
        raise UsageError(f"--presets: expected all or some of {', '.join(PRESETS)}; found {', '.join(unknown)}")
    configs = {n: PRESETS[n].config for n in names}
    if settings_file is not None:
        try:
            own = json.loads(settings_file.read_text("utf8"))
            configs |= {str(name): RetrieverConfig.from_json(settings) for name, settings in own.items()}
        except (OSError, ValueError, AttributeError, ConfigError) as error:
            raise UsageError(f"--settings {settings_file}: expected a JSON object of name to settings; {error}") from None
    if not configs:
        raise UsageError("--presets: expected at least one name; found none")
    return configs


def read_questions(path: Path) -> QuestionSet | None:
    """The question set, its problems said on standard error; None where nothing could be read."""
    try:
        questions = load_questions(path)
    except (OSError, QuestionError, UnicodeDecodeError) as error:
        say(f"{path}: {error}")
        return None
    for problem in questions.problems:
        say(f"{path.name}: {problem}")
    if questions.problems:
        say(f"{path.name}: {len(questions)} questions used, {len(questions.problems)} lines left out")
    return questions


def table(result: RunResult) -> str:
    """Configurations × metrics × K, aligned, with recall ceiling and milliseconds a question."""
    columns = [f"{m}@{k}" for m in ("R", "AP", "MRR") for k in result.ks] + ["R@3000w", "ceiling", "ms"]
    width = max(len("configuration"), *(len(c.name) for c in result.configurations))
    lines = [f"{'configuration':<{width}}  " + "  ".join(f"{c:>7}" for c in columns)]
    for c in result.configurations:
        figures = {**c.metrics, "ceiling": c.ceiling}
        cells = [f"{figures[name]:7.3f}" for name in columns[:-1]] + [f"{c.seconds * 1000 / len(c.questions):7.1f}"]
        lines.append(f"{c.name:<{width}}  " + "  ".join(cells))
    q = result.question_set
    lines.append(
        f"{q['questions']} questions, {q['goals']} witnesses, {result.corpus['documents']} documents; "
        f"model {result.model or 'none'}; ms: milliseconds a question"
    )
    return "\n".join(lines)


def missing_goals(result: RunResult, corpus: Corpus, questions: QuestionSet, threshold: float) -> list[str]:
    """What the corpus does not hold, in words. Only goals out of reach of every configuration are looked at."""
    out_of_reach = set.intersection(*({q for q, _ in c.unreachable} for c in result.configurations))
    suspects = [q for q in questions if q.id in out_of_reach]
    return [str(m) for m in find_missing(corpus, suspects, threshold)] if suspects else []


def timing(result: RunResult, opened: float) -> str:
    """Where the time went, in seconds."""
    parts = [f"{what} {seconds:.1f} s" for what, seconds in {"reading": opened, **result.shares}.items()]
    return f"{opened + result.seconds:.1f} s in all: {', '.join(parts)}"


def verdicts(result: RunResult) -> list[str]:
    """The best configuration by R at the largest K against each other one, in words."""
    lines = []
    for metric in ("R", "MRR"):
        label = f"{metric}@{max(result.ks)}"
        values = result.values(label)
        best = max(result.configurations, key=lambda c: c.metrics[label]).name
        lines += [c.sentence for c in compare(values, label, [(best, name) for name in values if name != best])]
    return lines


def _progress(done: int, total: int, name: str) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == total else ""
        print(f"\r{done} of {total} searches ({name})".ljust(60), end=end, file=sys.stderr, flush=True)
