"""Batches as processors see them: a handle on a content, with a label."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.core.errors import DefinitionError
from falkirk.runtime.content import Content, Step
from falkirk.runtime.streaming import empty_batch, streamed
from falkirk.store.reference import Reference

if TYPE_CHECKING:
    from falkirk.runtime.materialise import Materialiser

ROWS_MAX = 10_000
"""How many rows a piece of a batch has at most."""


class Batch:
    """One use of a content. A plan may be used once; before a second use it is materialised.

    A lazily evaluated plan can give other rows when it is evaluated again, and a message has one
    content only.
    """

    __slots__ = ("content", "label", "materialiser", "passing", "used", "user")

    def __init__(
        self, content: Content, materialiser: "Materialiser", label: str = "", user: str = ""
    ) -> None:
        """A fresh handle; ``user`` is the processor that it is made for."""
        self.content, self.materialiser = content, materialiser
        self.label, self.user = label, user
        self.used = self.passing = False

    def lend(self, user: str = "") -> "Batch":
        """Another handle on the same content, for whoever processes it next."""
        return Batch(self.content, self.materialiser, self.label, user or self.user)

    def labelled(self, label: str, passing: bool = False) -> "Batch":
        """The same content under ``label``; one that is ``passing`` may stay a plan."""
        labelled = Batch(self.content, self.materialiser, label, self.user)
        labelled.passing = passing
        return labelled

    @property
    def reference(self) -> Reference | None:
        """Where the content is durable, if it is."""
        return self.content.reference

    @property
    def small(self) -> bool:
        """Whether the content fits on the driver: then ``arrow`` costs no job."""
        content = self.content
        if content.table is not None:  # asked of every piece of a trace, again and again
            return (content.size or 0) <= self.materialiser.small_bytes_max
        return self.materialiser.all_small([content])

    @property
    def size(self) -> int | None:
        """How many bytes there are, or may be at most; None if nobody knows."""
        return self.content.size

    @property
    def rows(self) -> int | None:
        """How many rows there are, if that is known."""
        return self.content.rows

    @property
    def frame(self) -> Any:
        """The content as a Spark DataFrame."""
        self._use()
        return self.materialiser.hand_out(self.content)

    def transform(self, function: Callable[[Any], Any]) -> "Batch":
        """The batch that ``function`` makes of this one's frame; nothing is evaluated yet."""
        self._use()
        plan = Step(self.content, function, self.user)
        return Batch(Content(plan=plan, hint=self.content.size), self.materialiser, user=self.user)

    def taken(self) -> Content:
        """The content, for what is made of this batch."""
        self._use()
        return self.content

    def _use(self) -> None:
        if self.used and not self.content.settled:
            raise DefinitionError(
                "a batch that is still a plan was used twice, and could give other rows the second"
                " time: call materialise() on it before the first use"
            )
        self.used = True

    def materialise(self) -> "Batch":
        """Fixes the content: one Spark job, unless it is fixed already."""
        if not self.content.settled:  # who writes it down holds its lock meanwhile
            self.materialiser.settle(self.content)
        return self

    def spread(self) -> "Batch":
        """The same rows, on executors too if they are many."""
        self.materialiser.spread(self.content)
        return self

    def arrow(self) -> pa.Table:
        """The content as an Arrow table on the driver."""
        table = self.content.table
        return table if table is not None else self.materialiser.table(self.content)

    def arrow_batches(self, rows_max: int = ROWS_MAX) -> Iterator[pa.RecordBatch]:
        """The content as Arrow batches; what does not fit the driver comes partition by partition.

        A piece that is empty comes too, if that is all: it has the columns.
        """
        self.materialise()
        if self.small:
            table = self.arrow()
            yield from table.to_batches(max_chunksize=rows_max) or [empty_batch(table.schema)]
        else:
            with self.materialiser.opened(self.content) as frame:
                yield from streamed(frame)

    def is_empty(self) -> bool:
        """Whether there are no rows; fixes the content."""
        return self.materialise().rows == 0

    def __repr__(self) -> str:
        return f"Batch(rows={self.rows}, label={self.label!r})"
