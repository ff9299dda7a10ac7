"""Processors: what users subclass, and what the built-in operators are."""

from collections.abc import Sequence
from typing import Any, ClassVar

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context


class Processor:
    """Reacts to messages and notifications; all it keeps, it keeps by time in ``ctx.state``.

    It gets checkpoints and selective rollback with no further code. Attributes of the object are
    for parameters only: they are neither saved nor rolled back, unless the class is ``opaque``.
    """

    inline: ClassVar[bool] = False
    """Events only extend plans: no Spark job and no waiting, so the driver need not hand over."""

    stateless: ClassVar[bool] = False
    """Nothing is kept once a time is complete, so the policy may be ephemeral or batch."""

    opaque: ClassVar[bool] = False
    """State is kept in the object itself, and ``checkpoint`` and ``restore`` save it (§4.1)."""

    lattice: ClassVar[bool] = False
    """Notified, without asking, at every join of times at which it keeps state."""

    merge_keys: Sequence[str] = ()
    """Columns of the state: rows that differ there never become one in ``consolidate``.

    Large state is then merged in pieces, by these columns, and old and new never take their room
    both at once."""

    outputs: ClassVar[int] = 1
    """How many output ports there are; ``stream.port(n)`` is the stream of the n-th."""

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Processes one batch that came in on ``port`` at ``time``.

        In sequence (``stream.in_sequence()``) the time is the ``time.number``-th message of
        ``time.edge``, counted from one; messages come one at a time and in that order.
        """
        raise NotImplementedError(f"{type(self).__name__} has no on_message")

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Learns that ``time`` is complete: no message at it or before will come any more.

        Sequence numbers are never told to be complete, so a processor with this is refused there.
        """

    def consolidate(self, ctx: Context, batches: list[Batch]) -> Batch:
        """One batch of state in the place of several with one label, which no time tells apart.

        They are a contiguous run of those that there are, oldest first; there may be older and
        newer ones that are left alone.
        """
        return ctx.union(batches)

    def checkpoint(self, frontier: Any) -> Any:
        """A JSON-able value from which an opaque processor can restore itself to ``frontier``."""
        raise NotImplementedError(f"{type(self).__name__} is opaque and has no checkpoint")

    def restore(self, frontier: Any, saved: Any) -> None:
        """Goes back to what ``checkpoint`` gave at ``frontier``, or to the start if that is ∅."""
        raise NotImplementedError(f"{type(self).__name__} is opaque and has no restore")
