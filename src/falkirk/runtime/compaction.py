"""Which runs of a trace to merge, so that there are few of them and each row is merged seldom.

Old runs are on the disk until the new one is durable and they are collected. If everything were
merged at once, a trace would take more than twice its room. So a trace that is not small is divided
by its keys, and merged piece by piece.
"""

from collections.abc import Sequence
from typing import NamedTuple

from falkirk.store.reference import Piece

RUNS_MIN = 8
"""So many runs are read as fast as one, and merging them earlier would only write more."""

PIECES = 4
"""Into so many pieces a trace is divided: while one is merged, a quarter is there twice."""

SHARE = 5
"""What comes is divided when it has a fifth of the room of the pieces."""


class Run(NamedTuple):
    """One run: the bytes of its rows, of its file, and which piece of the trace it is, if one.

    What a merge costs goes by the rows. A file of few rows is larger than they are.
    """

    size: int
    stored: int
    piece: Piece | None = None


class Due(NamedTuple):
    """What to merge: the runs at ``places``. The result is one of the ``piece``, or is divided."""

    places: tuple[int, ...]
    piece: Piece | None = None
    divided: bool = False


def due(runs: Sequence[Run], divided_bytes_min: float) -> Due | None:
    """What is to be merged next of a trace, the oldest run first; None if it is in good shape.

    Of a divided trace each piece is one run. What comes is not divided until it takes a share of
    the room of the pieces, and ``divided_bytes_min`` at least. Then each piece is merged with what
    is new of it. So a trace takes about one and a half times its room at most.

    >>> ours = [Run(900, 400, Piece(number, PIECES)) for number in range(PIECES)]
    >>> due([*ours, Run(700, 300)], 100)
    >>> due([*ours, Run(700, 300), Run(10, 20)], 100)
    Due(places=(4, 5), piece=None, divided=True)
    >>> due([*ours, Run(200, 100, Piece(2, PIECES))], 100)
    Due(places=(2, 4), piece=Piece(number=2, of=4), divided=False)
    """
    pieces: dict[Piece, list[int]] = {}
    undivided: list[int] = []
    for place, run in enumerate(runs):
        if run.piece is not None and run.piece.of == PIECES:
            pieces.setdefault(run.piece, []).append(place)
        else:
            undivided.append(place)
    for piece, places in pieces.items():
        if len(places) > 1:
            return Due(tuple(places), piece)
    outside = sum(runs[place].stored for place in undivided)
    inside = sum(run.stored for run in runs) - outside
    if undivided and outside >= max(divided_bytes_min, inside / SHARE):
        return Due(tuple(undivided), divided=True)
    count = runs_to_merge([runs[place].size for place in undivided])
    return Due(tuple(undivided[-count:])) if count else None


def runs_to_merge(sizes: Sequence[int]) -> int:
    """How many of the newest runs to merge into one; 0 if the trace is in good shape.

    A few runs are left alone. Of more, a run stays as it is while it is more than twice as large as
    all that is newer, so there are logarithmically many and a row is merged logarithmically often.

    >>> runs_to_merge([1] * RUNS_MIN), runs_to_merge([1] * (RUNS_MIN + 1))
    (0, 9)
    >>> runs_to_merge([1000] + [1] * RUNS_MIN)
    8
    """
    if len(sizes) <= RUNS_MIN:
        return 0
    merged, count = 0, 0
    for i, size in enumerate(reversed(sizes)):
        if i and size <= 2 * merged:
            count = i + 1
        merged += size
    return count
