"""Sources and sinks that do nothing: only their declarations matter to a description."""

from typing import Any


class Source:
    """A source that can be read again, or not."""

    def __init__(self, replayable: bool = True) -> None:
        self.replayable = replayable

    def initial(self) -> Any: ...
    def latest(self, start: Any, limit: Any) -> Any: ...
    def read(self, session: Any, start: Any, end: Any) -> Any: ...
    def finished(self, position: Any) -> bool: ...
    def commit(self, end: Any) -> None: ...


class Sink:
    """A sink that recognises repetitions, or not."""

    def __init__(self, exactly_once: bool = True) -> None:
        self.exactly_once = exactly_once

    def write(self, name: str, time: Any, batch: Any) -> None: ...


class Pair:
    """A sink for two streams at once."""

    exactly_once = True
    parts = ("a", "b")

    def write_together(self, name: str, time: Any, batches: Any) -> None: ...
