"""Joining two streams: rows of the same time meet."""

from collections.abc import Sequence

from falkirk.core.times import Time
from falkirk.dataflow.batch import Frame
from falkirk.dataflow.operators.plan import Together, missing

KINDS = ("inner", "left", "right", "full", "semi", "anti")
"""The kinds of joins."""

NEEDED = {"left": (1,), "right": (0,), "full": (0, 1)}
"""The ports whose columns are in the result even when they have no rows."""


class Join(Together):
    """The rows of both sides that agree on the columns ``on``, for each time.

    A side on which nothing came, not even an empty batch, has no rows and unknown columns. Where
    the result does not need these columns it is computed; where the result can have no rows nothing
    is sent; otherwise that is an error. ``Columns`` sees to it that this happens only to a side
    that has never sent anything.
    """

    def __init__(self, on: Sequence[str], how: str) -> None:
        """Joins by the columns ``on``; ``how`` is one of ``KINDS``."""
        super().__init__(self.join, ports=2)
        self.on, self.how = list(on), how

    def join(self, left: Frame, right: Frame) -> Frame:
        """The join of two frames."""
        return left.join(right, on=self.on, how=self.how)

    def combine(self, frames: Sequence[Frame | None], time: Time) -> Frame | None:
        """The join, as far as one side alone decides it."""
        left, right = frames
        if left is not None and right is not None:
            return self.join(left, right)
        if left is not None and self.how in ("semi", "anti"):
            return left if self.how == "anti" else left.where("false")
        rows_left = left is not None and self.how in ("left", "full")
        rows_right = right is not None and self.how in ("right", "full")
        if rows_left or rows_right:
            raise missing(frames, time)
        return None
