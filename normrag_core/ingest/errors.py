"""The error of a file that cannot be read. Apart from the reader, so that who handles it need not load the PDF library."""

from __future__ import annotations


class IngestError(Exception):
    """A file could not be read; the message names the file and what to do about it."""
