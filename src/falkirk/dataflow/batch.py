"""What a processor gets and gives: the rows of one message, in whatever form they are."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

Frame = Any
"""A Spark DataFrame. Descriptions never import Spark, so it has no type here."""


class Batch(Protocol):
    """The rows of one message or of one piece of state.

    A batch may still be a plan that nobody has evaluated. Whoever uses one twice calls
    ``materialise`` first: a plan that is evaluated twice may give other rows the second time.
    """

    @property
    def frame(self) -> Frame:
        """The rows as a DataFrame; evaluates nothing."""

    def transform(self, function: Callable[[Frame], Frame]) -> "Batch":
        """The batch that ``function`` makes of the frame; evaluates nothing."""

    def materialise(self) -> "Batch":
        """The same rows, evaluated once and for all: at most one Spark job."""

    def arrow(self) -> Any:
        """The rows as an Arrow table on the driver; materialises."""

    def arrow_batches(self) -> Iterator[Any]:
        """The rows as Arrow batches, one after the other: never all of them on the driver."""

    @property
    def size(self) -> int | None:
        """How many bytes there are, or will hardly be more; None if nobody knows."""

    @property
    def rows(self) -> int | None:
        """How many rows there are; None while nobody knows."""

    @property
    def small(self) -> bool:
        """Whether the rows rest on the driver, so that ``arrow`` costs no job."""

    def spread(self) -> "Batch":
        """The same rows, on executors too if they are many: for what many jobs will read."""

    def is_empty(self) -> bool:
        """Whether there are no rows; materialises."""
