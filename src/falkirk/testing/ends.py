"""A user's flow with other ends: scripted inputs, and outputs that are remembered."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.connectors.dead_letters import CORRUPT, FILE
from falkirk.core.errors import ConfigurationError
from falkirk.core.times import Time
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.connecting import UNLIMITED
from falkirk.dataflow.node import Node
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
class Contradicted(Remembered):
    """A sink that goes on when a time comes again with other rows, and remembers both."""

    contradictions: list[tuple[Time, Rows, Rows]] = field(default_factory=list)

    def contradicted(self, time: Time, rows: Rows) -> None:
        """Remembers what came then; what came first stays."""
        self.contradictions.append((time, self.times[time], rows))


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

    A script has its own epochs, so the limit of its input does not count.
    """
    require_known(blueprint, "input", inputs, blueprint.sources)
    nodes = {}
    for name, node in blueprint.nodes.items():
        if name in inputs:
            kind = Sifted if getattr(node.operator, "_sifts", False) else Script
            node = replace(node, operator=kind(inputs[name]), limit=UNLIMITED)
        elif name in outputs:
            node = replace(node, operator=outputs[name])
        nodes[name] = node
    return replace(blueprint, nodes=nodes)


def require_known(
    blueprint: Blueprint, what: str, names: Collection[str], known: Collection[str]
) -> None:
    """Refuses names of inputs or outputs that the flow does not have."""
    unknown = sorted(set(names) - set(known))
    if unknown:
        raise ConfigurationError(
            f"the flow {blueprint.name!r} has no {what} {unknown[0]!r}: it has"
            f" {', '.join(sorted(known))}"
        )


def fresh_outputs(blueprint: Blueprint, real: Collection[str] = ()) -> dict[str, Remembered]:
    """A sink that remembers for each sink of the flow but the ``real`` ones, with its guarantee."""
    return {name: sink_for(node) for name, node in blueprint.sinks.items() if name not in real}


def sink_for(node: Node) -> Remembered:
    """A sink that remembers; where a time may come twice, one that does not mind."""
    return Repeating() if node.policy.tainted else Contradicted()
