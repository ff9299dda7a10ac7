"""Names of processors: given by the user or derived, and never the same twice."""

from falkirk.dataflow.location import refusal

RESERVED = ">:"
"""Signs that name edges."""


class Names:
    """The names that are taken, each with the place where."""

    def __init__(self) -> None:
        """Nothing is taken."""
        self._taken: dict[str, str] = {}
        self._made: set[str] = set()

    def copy(self) -> "Names":
        """An independent copy."""
        other = Names()
        other._taken, other._made = dict(self._taken), set(self._made)
        return other

    def take(self, given: object, stem: str, location: str) -> str:
        """Takes ``given``, or the first free one of stem, stem-2, stem-3 and so on.

        >>> names = Names()
        >>> [names.take(None, "select", "app.py:1") for _ in range(3)]
        ['select', 'select-2', 'select-3']
        """
        name = self._derived(stem) if given is None else self._checked(given)
        self._taken[name] = location
        if given is None:
            self._made.add(name)
        return name

    def _checked(self, given: object) -> str:
        if not isinstance(given, str) or not given or any(sign in given for sign in RESERVED):
            raise refusal(f"{given!r} is no name: some text without {' and '.join(RESERVED)}")
        if given in self._taken:
            advice = "name that one, or " if given in self._made else ""
            raise refusal(
                f"the name {given!r} is taken since {self._taken[given]}:"
                f" {advice}choose another one here"
            )
        return given

    def _derived(self, stem: str) -> str:
        if stem not in self._taken:
            return stem
        number = 2
        while f"{stem}-{number}" in self._taken:
            number += 1
        return f"{stem}-{number}"
