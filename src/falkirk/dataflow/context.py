"""What a processor can do while it processes an event: send, ask, keep."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch

ASIDE = "set aside"
"""The label of rows that could not be processed; processors do not see them."""


class State(Protocol):
    """What a processor keeps, by time. A label tells batches of one time apart.

    An event adds to the state of its own time, or drops it, and may look at the state of all times
    up to its own. So a checkpoint is a filter by time, and so is a rollback.
    """

    def put(self, batch: Batch, label: str = "", passing: bool = False) -> None:
        """Adds ``batch`` to the state of the event's time.

        One that is ``passing`` is used once, when the time is complete, and dropped then
        (``clear``). It is never saved, so it need not be evaluated and may stay a plan.
        """

    def clear(self) -> None:
        """Drops all state of the event's time."""

    def own(self, label: str | None = None) -> list[Batch]:
        """The state of the event's time, oldest first; with any label, or with this one."""

    def visible(self, label: str | None = None) -> list[Batch]:
        """The state of all times up to the event's."""

    def trace(self, label: str | None = None) -> list[tuple[Time, Batch]]:
        """The state of all times up to the event's, each batch with its time."""


class Context(Protocol):
    """One event's view of the system. What is done through it counts when the event is finished.

    If the processor raises an exception, nothing of it has happened.
    """

    @property
    def state(self) -> State:
        """What the processor keeps."""

    @property
    def session(self) -> Any:
        """The SparkSession."""

    def send(self, batch: Batch, time: Time | None = None, port: int | None = None) -> None:
        """Sends ``batch`` to all receivers on output ``port``, or on every output.

        Without ``time`` it goes out at the event's own time, as each edge carries it over: one
        round later around a loop, and so on. Towards sequence numbers the edge counts, and there is
        no time to give; out of a sequence, into windows, it is the window that is open.
        """

    def notify(self, time: Time | None = None) -> None:
        """Asks to be told when ``time`` (the event's own, if not given) is complete."""

    def close(self, epoch: int | None = None, port: int = 0) -> None:
        """Closes the open window of output ``port``, or all windows up to ``epoch``.

        For processors that make epochs out of a sequence (``stream.windows``): nothing more will be
        sent at ``epoch`` or before, so it is complete for those who receive it.
        """

    def batch(self, data: Any, size: int | None = None) -> Batch:
        """A batch of a DataFrame, an Arrow table or a list of row dictionaries.

        ``size`` is how many bytes a DataFrame will hardly exceed, if that can be told.
        """

    def union(self, batches: Iterable[Batch]) -> Batch:
        """The rows of all ``batches``, of which there is at least one."""

    def group(self, batch: Batch, keys: Sequence[str], values: Sequence[str]) -> Batch:
        """One row for each value of ``keys``, with ``values``; nothing is evaluated yet.

        Both are SQL expressions with names, and values are aggregates.
        """

    def join(self, left: Batch, right: Batch, on: Sequence[str], how: str = "inner") -> Batch:
        """The rows of two batches that agree in the columns ``on``; nothing is evaluated yet.

        ``how`` is "inner", "left", "left_semi" or "left_anti".
        """

    def aggregate(
        self,
        batches: Iterable[Batch],
        keys: Sequence[str],
        merges: Sequence[tuple[str, str]],
        touched: Batch | None = None,
    ) -> Batch:
        """Merges partial aggregates: one row for each value of ``keys``, null being a value too.

        ``merges`` are (column, "sum" | "min" | "max"); nulls do not count, and a column keeps its
        type. With ``touched``, only groups whose keys occur in that batch.
        """
