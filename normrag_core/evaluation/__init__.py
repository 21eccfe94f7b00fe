"""Does structure help on *my* standards? Question sets, matching, metrics, runs, statistics and sweeps.

In a notebook (a whole folder of PDFs: `commands.folder.open_retriever`; a question set from a file: `load_questions`):

>>> from normrag_core.codec import from_object
>>> from normrag_core.config import PRESETS
>>> from normrag_core.evaluation import Question, Witness, compare, run
>>> from normrag_core.model import Corpus
>>> from normrag_core.retriever import Retriever
>>> standard = from_object({
...     "document": {"id": "EN 399 001", "version": "V1.1.1", "date": "2020-01", "title": "Mast", "pages": 2, "file": "b.pdf"},
...     "units": [
...         {"key": "", "code": "", "title": "Beacons", "kind": "document", "parent": None, "page": 1, "body": ""},
...         {"key": "4", "code": "4", "title": "Loss of pilot", "kind": "clause", "parent": "", "page": 2,
...          "body": "The transmitter shall stop within 25 ms after loss of the pilot tone."},
...         {"key": "5", "code": "5", "title": "Mast", "kind": "clause", "parent": "", "page": 2, "body": "It shall stand."},
...     ],
... })
>>> asked = [Question("q1", "How soon must a transmitter stop?", witnesses=(Witness("shall stop within 25 ms", "b.pdf"),))]
>>> tried = {name: PRESETS[name].config for name in ("bm25", "plain-bm25")}
>>> result = run(Retriever(Corpus.of([standard])), asked, tried, ks=(1, 5))
>>> result.configuration("bm25").metrics["MRR@5"], result.configuration("bm25").ceiling
(1.0, 1.0)
>>> compare(result.values("R@5"), "R@5")[0].sentence
'bm25 and plain-bm25 do the same in R@5 on all 1 questions.'
"""

from normrag_core.evaluation.questions import Question, QuestionSet, Relevant, Witness, load_questions
from normrag_core.evaluation.runs import RunResult, run
from normrag_core.evaluation.statistics import compare

__all__ = ["Question", "QuestionSet", "Relevant", "RunResult", "Witness", "compare", "load_questions", "run"]
