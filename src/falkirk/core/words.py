"""Frontiers and times in the words of people who have epochs, rounds and messages."""

from typing import Any

from falkirk.core.frontier import SequenceFrontier
from falkirk.core.times import INF, SequenceNumber


def until(frontier: Any, numbered: bool = False) -> str:
    """How far a frontier reaches; ``numbered`` says that its times are the messages of one edge.

    >>> from falkirk.core.frontier import ProductFrontier, TotalFrontier
    >>> until(TotalFrontier((4,))), until(TotalFrontier()), until(TotalFrontier((INF,)))
    ('epoch 4', 'nothing', 'everything')
    >>> until(TotalFrontier((4, INF))), until(TotalFrontier((4, 7)))
    ('epoch 4', 'epoch 4 round 7')
    >>> until(ProductFrontier([(0, INF), (1, 3)])), until(TotalFrontier((3,)), numbered=True)
    ('epoch 0 and epoch 1 round 3', 'message 3')
    >>> until(SequenceFrontier({"e": 3, "d": 1}))
    'message 1 of d, message 3 of e'
    """
    if frontier.is_empty or frontier.is_top:
        return "nothing" if frontier.is_empty else "everything"
    if isinstance(frontier, SequenceFrontier):
        return ", ".join(f"message {_number(count)} of {edge}" for edge, count in frontier.counts)
    if numbered:
        return f"message {_number(frontier[0])}"
    return " and ".join(map(at, frontier.maximal))


def at(time: Any) -> str:
    """A time; as the end of a frontier, ∞ is the whole of what stands before it.

    >>> at((3,)), at((3, 1, INF)), at(SequenceNumber("e", 2))
    ('epoch 3', 'epoch 3 round 1', 'message 2 of e')
    """
    if isinstance(time, SequenceNumber):
        return f"message {time.number} of {time.edge}"
    rounds = [str(c) for c in time[1:] if c != INF]
    return f"epoch {_number(time[0])}" + (f" round {'.'.join(rounds)}" if rounds else "")


def _number(coordinate: Any) -> str:
    return "∞" if coordinate == INF else str(coordinate)
