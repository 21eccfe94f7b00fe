"""PDF in, InfoUnits and citations out. The only package that imports PyMuPDF."""

from normrag_core.ingest.reader import IngestError, read_pdf

__all__ = ["IngestError", "read_pdf"]
