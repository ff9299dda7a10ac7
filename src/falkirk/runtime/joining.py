"""Joins batches by equal columns: a plan over both, which Spark evaluates when the rows are needed.

Columns that are joined by come first, then those of the left side, then those of the right one.
"""

from collections.abc import Sequence
from typing import Any

from falkirk.core.errors import DefinitionError
from falkirk.runtime.content import Content, PlanError, Several
from falkirk.runtime.one_task import BROADCAST_BYTES_MAX, ONE_TASK_WORK_BYTES_MAX

KINDS = ("inner", "left", "left_semi", "left_anti")

ROOM = 4
"""How many times larger the joined rows may be than those that are joined, at a guess."""


def join(left: Content, right: Content, on: Sequence[str], how: str, who: str = "") -> Content:
    """The rows of ``left`` with those of ``right``; ``who`` joins them, and is named in errors."""
    if how not in KINDS:
        raise DefinitionError(f"{who!r} joins {how!r}: a join is {', '.join(KINDS)}")

    # If both sides are small none is broadcast, which is a job of its own. Nor is there anything to
    # shuffle: what rests on the driver is one partition.
    hints: tuple[str | None, str | None]
    if fits(left, ONE_TASK_WORK_BYTES_MAX) and fits(right, ONE_TASK_WORK_BYTES_MAX):
        hints = (None, "shuffle_hash")
    elif fits(right, BROADCAST_BYTES_MAX):
        hints = (None, "broadcast")
    else:
        hints = ("broadcast" if how == "inner" and fits(left, BROADCAST_BYTES_MAX) else None, None)

    def joined(frames: list[Any]) -> Any:
        one, other = (f.hint(h) if h else f for f, h in zip(frames, hints, strict=True))
        try:
            return one.join(other, on=list(on), how=how)
        except Exception as error:
            raise PlanError(who, error) from error

    return Content(plan=Several((left, right), joined), hint=bound(left, right))


def fits(content: Content, bytes_max: int) -> bool:
    """Whether a content is known to have no more bytes."""
    return content.size is not None and content.size <= bytes_max


def bound(*joined: Content) -> int | None:
    """How many bytes the rows of a join will hardly exceed, if that can be told."""
    sizes = [content.size for content in joined]
    return None if None in sizes else ROOM * sum(size or 0 for size in sizes)
