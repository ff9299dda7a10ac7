"""Messages, and which of them may be processed next (§3.3)."""

from dataclasses import dataclass
from typing import Any

from falkirk.core.machine.flow import Batch
from falkirk.core.order import product_leq
from falkirk.core.times import EdgeId, SequenceNumber


@dataclass(frozen=True, slots=True)
class Message:
    """A batch at one time on one edge; ``cause`` is the time at the sender of the event that sent
    it.

    ``number`` is unique in one run of the machine, and says which of two messages was sent first.
    """

    number: int
    edge: EdgeId
    time: Any
    cause: Any
    batch: Batch


def deliverable(queue: list[Message]) -> list[Message]:
    """The messages that may be processed next: no earlier one has a time at or before theirs
    (§3.3).

    >>> queue = [Message(i, "e", (t,), (t,), None) for i, t in enumerate([2, 3, 1, 3])]
    >>> [m.number for m in deliverable(queue)]
    [0, 2]
    """
    if len(queue) < 2:
        return queue[:]
    found: list[Message] = []
    for message in queue:
        for earlier in found:  # of those that are not found, one that is found was earlier still
            if precedes(earlier.time, message.time):
                break
        else:
            found.append(message)
    return found


def precedes(left: Any, right: Any) -> bool:
    """Whether ``left`` is at or before ``right``, for times of either kind on one edge."""
    if isinstance(left, SequenceNumber):
        return left.number <= int(right.number)
    return product_leq(left, right)
