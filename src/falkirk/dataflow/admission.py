"""Admission by latency: how much one epoch takes follows from how long epochs take."""

from dataclasses import dataclass

from falkirk.core.errors import DefinitionError

UNITS = ("rows", "files", "bytes")
"""What can be admitted more or less of."""


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Admits as much to an epoch as can be done in ``target_seconds``; see :func:`adaptive`."""

    target_seconds: float
    least: int
    most: int
    unit: str

    def __post_init__(self) -> None:
        """Refuses a target that cannot be held."""
        if self.unit not in UNITS:
            raise DefinitionError(f"{self.unit!r} cannot be counted: {', '.join(UNITS)} can")
        if not self.target_seconds > 0:
            raise DefinitionError(f"a target of {self.target_seconds} seconds cannot be held")
        if not 1 <= self.least <= self.most:
            raise DefinitionError(
                f"from {self.least} to {self.most} {self.unit} is nothing to choose from: at least"
                " 1, and most not less than least"
            )


def adaptive(
    target_seconds: float = 0.5, *, least: int = 1, most: int = 1_000_000, unit: str = "rows"
) -> Adaptive:
    """A limit that holds a latency: ``flow.read(source, limit=fk.adaptive(0.5))``.

    The time from reading an epoch until it is complete everywhere downstream is measured, and the
    number of rows (or of ``"files"``, or ``"bytes"``: what the source can count) of the epochs to
    come is adapted, between ``least`` and ``most``.

    >>> adaptive(0.2, least=100)
    Adaptive(target_seconds=0.2, least=100, most=1000000, unit='rows')
    """
    return Adaptive(target_seconds, least, most, unit)
