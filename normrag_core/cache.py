"""A small bounded cache that builds each thing once, also when several sessions ask for it at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Cache:
    """Keeps the `limit` things used last. A second thread that asks for what is being built waits for it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: Hashable, build: Callable[[], T]) -> T:
        """What is kept under the key, built now where there is nothing. None is not kept: it means "not ready yet"."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: T = self._kept[key]
                return found
            made = build()
            if made is not None:
                self._kept[key] = made
                while len(self._kept) > self._limit:
                    self._kept.popitem(last=False)
            return made
