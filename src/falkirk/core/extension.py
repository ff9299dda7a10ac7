"""The very next step: the smallest frontiers just above a given one.

Why a processor may not keep more is best said of the next time that it would have to keep, so
explanations ask which constraint forbids a smallest extension of the chosen frontier.
"""

from collections.abc import Iterable
from typing import Any

from falkirk.core.domain import Domain, Structured
from falkirk.core.frontier import SequenceFrontier
from falkirk.core.times import INF, Coordinate, EdgeId, Time


def extensions(
    domain: Domain, frontier: Any, within: Any, inputs: Iterable[EdgeId] = ()
) -> list[Any]:
    """The smallest frontiers strictly above ``frontier``, one towards each maximum of ``within``.

    Sequence numbers have a step on each input edge. ∅ and ⊤ name no edges, so ``inputs`` names
    those that neither frontier does.

    >>> from falkirk.core.domain import EPOCH, Sequence
    >>> from falkirk.core.frontier import ProductFrontier, TotalFrontier
    >>> from falkirk.core.order import Order
    >>> extensions(EPOCH, TotalFrontier((2,)), TotalFrontier((9,)))
    [↓(3)]
    >>> extensions(Structured(2), TotalFrontier((2, INF)), TotalFrontier((9, 0)))
    [↓(3, 0)]
    >>> product = Structured(2, Order.PRODUCT)
    >>> extensions(product, ProductFrontier([(0, 1)]), ProductFrontier([(0, INF), (4, 0)]))
    [↓{(0, 2)}, ↓{(0, 1), (1, 0)}]
    >>> extensions(Sequence(), SequenceFrontier({"e": 3}), SequenceFrontier({"e": 7, "d": 1}))
    [{d: 1, e: 3}, {e: 4}]
    >>> extensions(Sequence(), Sequence().empty, Sequence().top, ["e"])
    [{e: 1}]
    """
    if isinstance(domain, Structured):
        if domain.total:
            step = successor(frontier.maximal[0] if frontier.maximal else (), domain.depth)
            return [domain.frontier([step])] if step in within else []
        towards = (top for top in within.maximal if top not in frontier)
        return [frontier | domain.frontier([_descend(frontier, top)]) for top in towards]
    edges = {*inputs, *(edge for edge, _ in frontier.counts + within.counts)}
    return [
        frontier | SequenceFrontier({edge: frontier.count(edge) + 1})
        for edge in sorted(edges)
        if frontier.count(edge) < within.count(edge)
    ]


def successor(time: Time, depth: int) -> Time:
    """The time that follows every time up to ``time`` in lexicographic order.

    >>> successor((1, 3), 2), successor((1, INF), 2), successor((), 2)
    ((1, 4), (2, 0), (0, 0))
    """
    if not time:
        return (0,) * depth
    finite = max((i for i, c in enumerate(time) if c < INF), default=0)
    return (*time[:finite], time[finite] + 1, *(0,) * (depth - finite - 1))


def _descend(frontier: Any, top: Time) -> Time:
    """A minimal time outside ``frontier`` at or below ``top``, which lies outside it."""
    step: list[Coordinate] = list(top)
    for i in range(len(top)):
        choices = sorted({0, *(m[i] + 1 for m in frontier.maximal if m[i] < INF)})
        for value in choices:
            lower = (*step[:i], value, *step[i + 1 :])
            if value <= top[i] and lower not in frontier:
                step[i] = value
                break
    return tuple(step)
