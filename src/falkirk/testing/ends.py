"""A user's flow with other ends: scripted inputs, and outputs that are remembered."""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.connectors.dead_letters import CORRUPT, FILE
from falkirk.core.errors import ConfigurationError
from falkirk.core.times import ProcessorId, Time
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.node import Node
from falkirk.dataflow.processor import Processor
from falkirk.testing.script import Remembered, Rows, Script


@dataclass(frozen=True)
class Repeating(Remembered):
    """A sink that is written to at least once: what comes again is remembered again."""

    exactly_once = False

    def write(self, name: str, time: Time, batch: Any) -> None:
        """Adds the rows to those of ``time``."""
        rows = batch.arrow().to_pylist()
        with self.lock:
            self.times[time] = sorted([*self.times.get(time, []), *rows], key=repr)


@dataclass(frozen=True)
class Sifted(Script):
    """A script in the place of files whose malformed rows are sifted: here all rows fit."""

    def read(self, session: Any, start: int, end: int) -> Any:
        """The rows with the columns that tell malformed ones from others."""
        table = super().read(session, start, end)
        for column in (CORRUPT, FILE):
            table = table.append_column(column, pa.nulls(table.num_rows, pa.string()))
        return table


def with_ends(
    blueprint: Blueprint, inputs: Mapping[str, Sequence[Rows]], outputs: Mapping[str, Remembered]
) -> Blueprint:
    """The same flow, reading scripts where ``inputs`` has epochs, and writing to ``outputs``.

    Operators are copied, so that what a user's class keeps in itself does not outlive a crash.
    """
    unknown = sorted(set(inputs) - set(blueprint.sources))
    if unknown:
        raise ConfigurationError(
            f"the flow {blueprint.name!r} has no input {unknown[0]!r}: it has"
            f" {', '.join(sorted(blueprint.sources))}"
        )
    nodes = {}
    for name, node in blueprint.nodes.items():
        operator = node.operator
        if name in inputs:
            kind = Sifted if getattr(operator, "_sifts", False) else Script
            operator = kind(inputs[name])
        elif name in outputs:
            operator = outputs[name]
        elif isinstance(operator, Processor):
            operator = copied(operator)
        nodes[name] = replace(node, operator=operator)
    return replace(blueprint, nodes=nodes)


def fresh_outputs(blueprint: Blueprint) -> dict[str, Remembered]:
    """A sink that remembers for each sink of the flow, with its guarantee."""
    return {name: sink_for(blueprint, name, node) for name, node in blueprint.sinks.items()}


def sink_for(blueprint: Blueprint, name: ProcessorId, node: Node) -> Remembered:
    """A sink that remembers; where a time may come twice, one that does not mind."""
    return Repeating() if node.policy.tainted else Remembered()


def copied(operator: Processor) -> Processor:
    """A copy of an operator; one that cannot be copied stays as it is."""
    try:
        return copy.deepcopy(operator)
    except Exception:
        return operator
