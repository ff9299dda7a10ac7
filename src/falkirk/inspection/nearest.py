"""What somebody may have meant who wrote a name that nobody has."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a complaint: the likeliest name, or all of them.

    >>> nearest("stroe", ["store", "master"])
    ": did you mean 'store'?"
    >>> nearest("colour", ["store", "master"])
    ': there are master, store'
    >>> nearest("store", [])
    ': there are none'
    """
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f": did you mean {close[0]!r}?"
    return f": there are {', '.join(names) or 'none'}"
