"""A store that keeps nothing: the floor that policies are compared with."""

from collections.abc import Mapping, Sequence
from typing import Any

from falkirk.store import open_store

DESCRIBED = (
    "at_least_once(), and a store that forgets at once what it is told: no transaction, no disk"
    " (merged state is encoded, and stays in memory); nothing could be recovered"
)


class UnsavedStore:
    """Says of everything that it is durable, and has written nothing."""

    def __init__(self) -> None:
        """A run needs somewhere to begin; that is in memory."""
        self.store = open_store("memory:")

    def transact(self, effects: Sequence[Any], captures: Mapping[int, Any] | None = None) -> None:
        """Does nothing."""

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's own."""
        return getattr(self.store, name)
