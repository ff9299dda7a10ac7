"""Which runs of a trace to merge, so that there are few of them and each row is merged seldom."""

from collections.abc import Sequence

RUNS_MIN = 8
"""So many runs are read as fast as one, and merging them earlier would only write more."""


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
