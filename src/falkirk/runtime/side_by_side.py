"""How many epochs of an input are worth computing at once, if what waits gathers.

An input without a limit takes all that has come. Two of its epochs side by side share the cores and
pay the fixed price of an epoch twice; if the second waits, it takes more for the same price. An
epoch of few rows keeps two cores busy: one that plans, one that computes. With a limit it is
another matter: epochs are as large as they may be, and those that wait only wait.
"""

import time
from typing import Any

from falkirk.dataflow.connecting import Limit

CORES_FOR_EACH = 2
LOOK_SECONDS = 5.0
"""Executors come and go."""


def takes_all(source: Any, limit: Any) -> bool:
    """Whether an epoch of ``source`` takes all that has come: it could be limited, and is not."""
    unlimited = isinstance(limit, Limit) and not (limit.rows or limit.files or limit.bytes)
    return unlimited and hasattr(source, "counts")


class SideBySide:
    """Asks Spark now and then how many cores there are."""

    def __init__(self, gateway: Any, most: int) -> None:
        """At most ``most`` epochs; so many also where nobody can say how many cores there are."""
        self.gateway, self.most = gateway, most
        self._epochs, self._looked_at = most, float("-inf")

    def __call__(self) -> int:
        """So many epochs, one at least."""
        now = time.monotonic()
        if self.gateway is not None and now >= self._looked_at + LOOK_SECONDS:
            self._looked_at = now
            self._epochs = min(self.most, max(1, self.gateway.cores() // CORES_FOR_EACH))
        return self._epochs
