"""What reading one file may cost, and the setting that allows more."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Limits:
    """Per file. seconds: in all; stall_seconds: without a further page; memory_mb: of the worker; file_mb: of the file."""

    seconds: int = 1800
    stall_seconds: int = 180
    memory_mb: int = 3072
    pages: int = 3000
    file_mb: int = 200

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise ValueError(f"{field.name}: expected at least 1; found {getattr(self, field.name)}")

    @classmethod
    def from_environment(cls) -> Limits:
        """The defaults, each replaced by its variable (NORMRAG_MAX_SECONDS, NORMRAG_MAX_FILE_MB, ...) where that is set."""
        given = {f.name: os.environ.get(setting(f.name)) for f in fields(cls)}
        for name, value in given.items():
            if value is not None and not value.strip().isdecimal():
                raise ValueError(f"{setting(name)}: expected a whole number; found {value!r}")
        return cls(**{name: int(value) for name, value in given.items() if value is not None})


def setting(name: str) -> str:
    """The environment variable of a limit."""
    return f"NORMRAG_MAX_{name.upper()}"
