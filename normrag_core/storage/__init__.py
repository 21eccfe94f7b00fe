"""What is kept between two starts: `Workspace(path)` on disk, `MemoryWorkspace()` for shared mode, `VectorStore`."""

from normrag_core.storage.errors import WorkspaceError
from normrag_core.storage.vectors import VectorStore
from normrag_core.storage.workspace import MemoryWorkspace, Workspace, handle

__all__ = ["MemoryWorkspace", "VectorStore", "Workspace", "WorkspaceError", "handle"]
