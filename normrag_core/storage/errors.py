"""The one error of the storage package."""

from __future__ import annotations


class WorkspaceError(OSError):
    """The workspace cannot be read or written; the message says where, what was expected and found, and the remedy.

    What was stored before stands. An OSError, so that whoever handles a full disk handles this.
    """
