"""Tables that do not change, for joins with every time."""

from collections.abc import Callable
from threading import Lock
from typing import Any

from falkirk.dataflow.batch import Frame


class Table:
    """A frame that is made once for each session: Spark lists files and finds columns once."""

    def __init__(self, make: Callable[[Any], Frame]) -> None:
        """``make`` gets the session."""
        self.make = make
        self._lock = Lock()
        self._made: tuple[Any, Frame] | None = None

    def frame(self, session: Any) -> Frame:
        """The table in ``session``."""
        with self._lock:
            if self._made is None or self._made[0] is not session:
                self._made = session, self.make(session)
            return self._made[1]
