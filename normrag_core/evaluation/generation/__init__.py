"""Question sets made from the loaded corpus: by a language model behind an OpenAI-compatible endpoint, or by templates.

Synthetic questions are the paper's acknowledged weakness; what cannot be verified is dropped and counted.
"""

from normrag_core.evaluation.generation.passages import Source, citation_sources, clause_sources
from normrag_core.evaluation.generation.run import FileLog, GenerationReport, estimate, generate
from normrag_core.evaluation.generation.templates import template_questions
from normrag_core.llm import Endpoint, EndpointError

__all__ = [
    "Endpoint",
    "EndpointError",
    "FileLog",
    "GenerationReport",
    "Source",
    "citation_sources",
    "clause_sources",
    "estimate",
    "generate",
    "template_questions",
]
