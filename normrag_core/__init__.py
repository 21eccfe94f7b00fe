"""NormRAG's in-memory core: standards in, ranked and explained clauses out. No Streamlit anywhere in here."""

__version__ = "0.1.0"
