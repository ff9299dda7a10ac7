"""What can go wrong in a run, as values: so that a run can be replayed and shrunk."""

from dataclasses import dataclass
from enum import Enum


class Trouble(Enum):
    """The kinds of faults."""

    FAIL = "fail"
    """Processors fail, but what they had asked of the store may still arrive there."""
    KILL = "kill"
    """Processors fail together with their writes; what they were computing may still end."""
    CRASH = "crash"
    """The whole process is killed: only the store and the outside remain."""
    ORPHAN = "orphan"
    """As CRASH, after the files of a write but before the row that makes them visible."""
    SUSPECT = "suspect"
    """Processors are suspected for a while, wrongly."""
    REPEAT = "repeat"
    """An acknowledgement, by the store or by the outside, comes a second time."""
    STUMBLE = "stumble"
    """The user's code raises: nothing comes of some work, and it is begun again."""
    REFUSE = "refuse"
    """The store refuses a write, which is tried again."""
    OUTAGE = "outage"
    """The store takes nothing for a number of steps."""
    TICK = "tick"
    """No fault at all: some seconds pass, and checkpoints may be due by the clock."""
    SEVER = "sever"
    """As FAIL, and the store that was just read takes nothing for a while."""
    PIN = "pin"
    """No fault: somebody wants to be able to go back to the present low-watermarks."""
    RETURN = "return"
    """No fault: somebody has the flow go back to what is pinned."""


FAILURE = (Trouble.FAIL, Trouble.KILL)
DEATH = (Trouble.CRASH, Trouble.ORPHAN)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong; ``names`` are processors, an index, seconds or steps.

    >>> Fault.parse("fail:p1,out0")
    Fault(kind=<Trouble.FAIL: 'fail'>, names=('p1', 'out0'))
    >>> str(Fault(Trouble.CRASH))
    'crash'
    """

    kind: Trouble
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind.value}:{','.join(self.names)}" if self.names else self.kind.value

    @classmethod
    def parse(cls, text: str) -> "Fault":
        """The fault that ``str`` wrote as ``text``."""
        kind, _, names = text.partition(":")
        return cls(Trouble(kind), tuple(names.split(",")) if names else ())


@dataclass(frozen=True, slots=True)
class Faults:
    """How much goes wrong in a run: how often of each kind at most, and how likely at each step.

    ``ambushes`` says whether rare moments may be waited for, see :mod:`~falkirk.testing.aiming`.
    """

    failures: int = 3
    crashes: int = 2
    suspicions: int = 1
    repeats: int = 1
    ticks: int = 2
    stumbles: int = 1
    store: int = 1
    chance: float = 0.06
    ambushes: bool = True

    def bag(self) -> list[tuple[Trouble, ...]]:
        """Every fault that may still happen, to draw from; each may take one of several forms."""
        failures, crashes = [FAILURE] * self.failures, [DEATH] * self.crashes
        suspicions = [(Trouble.SUSPECT,)] * self.suspicions
        others = [(Trouble.REPEAT,)] * self.repeats + [(Trouble.TICK,)] * self.ticks
        stumbles = [(Trouble.STUMBLE,)] * self.stumbles
        store = [(Trouble.REFUSE, Trouble.OUTAGE)] * self.store
        return [*failures, *crashes, *suspicions, *others, *stumbles, *store]


NO_FAULTS = Faults(0, 0, 0, 0, 0, 0, 0)
