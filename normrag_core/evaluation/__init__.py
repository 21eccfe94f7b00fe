"""Does structure help on *my* standards? Question sets, matching, metrics, runs, statistics and sweeps.

from normrag_core.evaluation import load_questions, run
result = run(retriever, load_questions("questions.jsonl"), {"mine": RetrieverConfig()}, ks=(1, 5, 10))
"""

from normrag_core.evaluation.questions import Question, QuestionSet, Relevant, Witness, load_questions
from normrag_core.evaluation.runs import RunResult, run

__all__ = ["Question", "QuestionSet", "Relevant", "RunResult", "Witness", "load_questions", "run"]
