"""Sinks of a shadow: what would be shown is recorded, by time, in the shadow's own store."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from falkirk.connectors.file_sink import FileSink, read_owner
from falkirk.connectors.parquet import ParquetSink
from falkirk.core.times import ProcessorId, Time
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.connecting import JointSink
from falkirk.inspection.shadow.facts import Output, recorded


class Recording:
    """Records the parts of a joint sink, each in a folder of its own."""

    exactly_once = True

    def __init__(self, sinks: Mapping[str, ParquetSink]) -> None:
        """``sinks`` by the names of the parts."""
        self.sinks = sinks

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the streams that it takes."""
        return tuple(self.sinks)

    def attach(self, name: str, store: str) -> None:
        """Takes the folders for an output of a store."""
        for part, sink in self.sinks.items():
            sink.attach(f"{name} {part}", store)

    def write_together(self, name: str, time: Time, batches: Mapping[str, Any]) -> None:
        """Records all rows of ``time``."""
        for part, batch in batches.items():
            self.sinks[part].write(name, time, batch)


def outputs_of(blueprint: Blueprint, identity: str | None, own: Collection[str]) -> list[Output]:
    """What a shadow of the live store ``identity`` records, and what that can be compared with."""
    found = []
    for p, node in blueprint.sinks.items():
        sink: Any = node.operator
        parts = tuple(sink.parts) if isinstance(sink, JointSink) else ()
        found.append(Output(p, parts, live_folder(p, sink, identity), p in own))
    return found


def live_folder(p: ProcessorId, sink: Any, identity: str | None) -> str | None:
    """The folder into which the live flow shows what ``p`` gets, if it is one by time."""
    if not isinstance(sink, FileSink) or sink.format != "parquet":
        return None
    owner = read_owner(Path(sink.path))
    if identity is None or owner != {"output": p, "store": identity}:
        return None
    return str(Path(sink.path).resolve())


def recording(blueprint: Blueprint, outputs: Collection[Output], place: str) -> Blueprint:
    """The same flow, which shows nothing outside the shadow store at ``place``."""
    nodes = dict(blueprint.nodes)
    for output in outputs:
        if output.own:
            continue
        p = ProcessorId(output.name)
        sinks = {part: ParquetSink(recorded(place, p, part)) for part in output.parts}
        sink = Recording(sinks) if output.parts else ParquetSink(recorded(place, p))
        nodes[p] = replace(nodes[p], operator=sink)
    return replace(blueprint, nodes=nodes)
