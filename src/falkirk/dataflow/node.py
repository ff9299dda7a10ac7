"""The frozen pieces of a flow's description: what runs, what it reads, and how it is protected."""

from dataclasses import dataclass
from typing import Literal

from falkirk.core.domain import EPOCH, Sequence, Structured
from falkirk.core.machine.flow import Role
from falkirk.core.order import Order
from falkirk.core.policy import Policy
from falkirk.core.times import ProcessorId
from falkirk.dataflow.admission import Adaptive
from falkirk.dataflow.connecting import UNLIMITED, JointSink, Limit, Sink, Source
from falkirk.dataflow.operators.stage import STAGE
from falkirk.dataflow.processor import Processor

Crossing = Literal["same", "enter", "leave", "around"]
"""What an edge does with a loop: stays, goes in, comes out, or leads into the next round."""


@dataclass(frozen=True, slots=True)
class Input:
    """What one input port reads: output ``output`` of ``source``."""

    source: ProcessorId
    crossing: Crossing = "same"
    output: int = 0


@dataclass(frozen=True, slots=True)
class Versions:
    """Stands where the versions of ``slow`` come in at the epochs of ``fast`` (a latest bridge)."""

    slow: ProcessorId
    fast: ProcessorId


@dataclass(frozen=True, slots=True)
class Node:
    """One processor of the flow, as the user wrote it.

    ``depth`` counts the epoch and the loops around; ``order`` is the order of those times. A
    ``numbered`` one has sequence numbers instead: its messages come one at a time, in order.
    """

    name: ProcessorId
    operator: Source | Processor | Sink | JointSink | Versions
    inputs: tuple[Input, ...]
    policy: Policy
    depth: int
    location: str
    role: Role = Role.INNER
    order: Order = Order.LEX
    limit: Limit | Adaptive = UNLIMITED
    numbered: bool = False

    @property
    def domain(self) -> Structured | Sequence:
        """The times of its events."""
        if self.numbered:
            return Sequence()
        return EPOCH if self.depth == 1 else Structured(self.depth, self.order)

    @property
    def processor(self) -> Processor | None:
        """What processes its messages; an input has none, and an output stages what it gets."""
        if isinstance(self.operator, Processor):
            return self.operator
        return STAGE if self.role is Role.OUTPUT else None

    @property
    def kind(self) -> str:
        """The class of what runs there."""
        return type(self.operator).__name__
