"""A standard that the question names ("... in EN 302 755 V1.4.1"): a term of its own that all its chunks hold and no others.

As plain words its number does harm: clauses that *cite* the standard say it, clauses of the standard itself do not (there it
stands in the running header). So a named document that is loaded leaves the question's words and becomes one BM25 term
whose document frequency is the number of its chunks, and which adds idf · weight to each of them, whatever their length.
Ours, not the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from normrag_core.bm25 import Bm25, Postings, bent
from normrag_core.identifiers import canonical, find_documents
from normrag_core.model import Document


class NamedDocuments:
    """The names under which the documents of a corpus can be asked for: by number, and by number and version."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.keys: dict[str, list[str]] = {}
        for document in documents:
            id_ = canonical(document.id)
            self.keys.setdefault(_term(id_), []).append(document.key)
            if document.version:
                self.keys.setdefault(_term(id_, document.version), []).append(document.key)

    def split(self, question: str) -> tuple[str, list[str]]:
        """(the question without the loaded documents that it names, their terms).

        A version that is not loaded does not count.
        """
        rest, terms = question, []
        for printed in reversed(list(find_documents(question))):
            id_ = canonical(printed.id)
            exact = _term(id_, printed.version or "")
            term = exact if exact in self.keys else _term(id_)
            if term in self.keys:
                rest = f"{rest[: printed.start]} {rest[printed.end :]}"
                terms.append(term)
        return rest, terms[::-1]


class NamingBm25(Bm25):
    """BM25 that also knows the names of documents. members: term → (m,) int64 rising chunk indices."""

    def __init__(
        self,
        postings: Postings,
        k1: float,
        b: float,
        context_weight: float,
        idf_power: float,
        members: Mapping[str, np.ndarray],
    ) -> None:
        super().__init__(postings, k1, b, context_weight, idf_power)
        self._members = members

    def idf_of(self, term: str) -> tuple[float, bool]:
        if term not in self._members:
            return super().idf_of(term)
        n, held = len(self.postings), len(self._members[term])
        # Where one document is the whole corpus its name says nothing.
        idf = np.maximum(0.0, np.log(n - held + 0.5) - np.log(held + 0.5))
        return float(bent(idf, n, self.idf_power)), False

    def _term_scores(self, term: str, weight: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        if term not in self._members:
            return super()._term_scores(term, weight)
        chunks = self._members[term]
        return chunks, np.full(len(chunks), weight * self.idf_of(term)[0])


def _term(id_: str, version: str = "") -> str:
    return f"document {id_} {version}".rstrip()
