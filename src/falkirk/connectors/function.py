"""A Python function as a sink."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from falkirk.core.times import Time


@dataclass(frozen=True, slots=True)
class Function:
    """Calls ``function(time, table)`` with the rows of each time as an Arrow table.

    After a failure it may be called again with the same time and the same rows. A function that
    recognises that is ``idempotent``, and then the sink is exactly once.
    """

    function: Callable[[Time, Any], None]
    idempotent: bool = False

    @property
    def exactly_once(self) -> bool:
        """Whether the function recognises a time that it was given before."""
        return self.idempotent

    def write(self, name: str, time: Time, batch: Any) -> None:
        """Calls the function."""
        self.function(time, batch.arrow())
