"""The outside: what a flow is given, what it shows, and what it can no longer take back."""

from dataclasses import dataclass, field
from typing import Any

from falkirk.core.machine.flow import Flow, Role
from falkirk.core.times import ProcessorId
from falkirk.testing.logic import Items, Logic
from falkirk.testing.reference import Outputs


class Violation(AssertionError):
    """The outside could tell that something had failed, or an inner law was broken."""


@dataclass(frozen=True)
class Scenario:
    """A flow with its logic and its inputs: per input, per epoch, batches."""

    flow: Flow
    logics: dict[ProcessorId, Logic]
    inputs: dict[ProcessorId, list[list[Items]]]

    def cut(self, batches: dict[ProcessorId, list[int]]) -> "Scenario":
        """This scenario with only the first few batches of each epoch, and fewer epochs."""
        inputs = {
            p: [epoch[:count] for epoch, count in zip(epochs, batches[p], strict=False)]
            for p, epochs in self.inputs.items()
        }
        return Scenario(self.flow, self.logics, inputs)

    def batches(self) -> dict[ProcessorId, list[int]]:
        """How many batches each epoch of each input has."""
        return {p: [len(epoch) for epoch in epochs] for p, epochs in self.inputs.items()}


def tainted(flow: Flow) -> frozenset[ProcessorId]:
    """The processors that may see repeats: an at-least-once one, or downstream of one."""
    found = {p for p, processor in flow.processors.items() if processor.policy.tainted}
    pending = sorted(found)
    while pending:
        for edge in flow.graph.outputs(pending.pop()):
            if edge.target not in found:
                found.add(edge.target)
                pending.append(edge.target)
    return frozenset(found)


@dataclass
class World:
    """The outside: it keeps inputs until they are acknowledged, and takes outputs once."""

    scenario: Scenario
    acknowledged: dict[ProcessorId, int] = field(default_factory=dict)
    outputs: Outputs = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Finds out which outputs may repeat themselves."""
        self.tainted = tainted(self.scenario.flow)

    def acknowledge(self, p: ProcessorId, epoch: int) -> None:
        """An input may forget its epochs up to ``epoch``."""
        self.acknowledged[p] = max(epoch, self.acknowledged.get(p, -1))

    def read(self, p: ProcessorId, epoch: int) -> list[Items]:
        """The batches of an epoch, if they are still there."""
        if epoch <= self.acknowledged.get(p, -1):
            raise Violation(f"{p} reads epoch {epoch} again, which it had acknowledged")
        return self.scenario.inputs[p][epoch]

    def take(self, p: ProcessorId, time: Any, items: Items) -> None:
        """Takes the output of a time; the same again is ignored, another is a contradiction.

        One that is at-least-once, or behind such a processor, adds to what it has shown.
        """
        shown = self.outputs.setdefault(p, {})
        if p in self.tainted:
            shown[time] = tuple(sorted(shown.get(time, ()) + items))
            return
        if time in shown and shown[time] != items:
            raise Violation(f"{p} showed {shown[time]} at {time}, and now {items}")
        shown[time] = items

    def output_names(self) -> list[ProcessorId]:
        """The processors that show something."""
        return [p for p, each in self.scenario.flow.processors.items() if each.role is Role.OUTPUT]
