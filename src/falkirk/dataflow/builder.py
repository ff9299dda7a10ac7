"""The builder of a flow: a description that only grows, until it is built."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from falkirk.core.machine.flow import Role
from falkirk.core.order import Order
from falkirk.core.policy import Policy, batch, lazy
from falkirk.core.times import ProcessorId
from falkirk.dataflow.admission import UNITS, Adaptive
from falkirk.dataflow.blueprint import Blueprint, build
from falkirk.dataflow.connecting import UNLIMITED, JointSink, Limit, Sink, Source
from falkirk.dataflow.defaults import (
    check_policy,
    operator_policy,
    sink_policy,
    source_policy,
)
from falkirk.dataflow.explanation import explain
from falkirk.dataflow.location import refusal, user_location
from falkirk.dataflow.loop import Loop, depth, entered, meeting_place
from falkirk.dataflow.names import Names
from falkirk.dataflow.node import Input, Node, Versions
from falkirk.dataflow.operators.stage import STAGE
from falkirk.dataflow.processor import Processor
from falkirk.dataflow.sequence import refuse_numbers, refuse_waiting
from falkirk.dataflow.sharing import refuse_shared
from falkirk.dataflow.stream import Stream


class Dataflow:
    """One application: sources, operators and sinks, each with a policy of its own.

    >>> flow = Dataflow("empty")
    >>> flow
    Dataflow('empty', 0 processors)
    """

    def __init__(self, name: str) -> None:
        """A flow without anything in it."""
        if not is_text(name):
            raise refusal(f"a flow has a name, not {name!r}")
        self.name, self.location = name, user_location()
        self._names = Names()
        self._nodes: dict[ProcessorId, Node] = {}
        self._regions: list[Policy] = []
        self._open_loops = 0

    # What a user writes.

    def read(
        self,
        source: Source,
        *,
        name: str | None = None,
        policy: Policy | None = None,
        limit: Limit | Adaptive | int | None = None,
    ) -> Stream:
        """The stream of what comes from ``source``; ``limit`` bounds the rows of one epoch."""
        if not isinstance(source, Source):
            raise refusal(f"{source!r} is no source: it needs all that fk.Source asks for")
        chosen = source_policy(source, check_policy(policy), self.region)
        if isinstance(limit, int):
            limit = Limit(rows=limit)
        if isinstance(limit, Limit) and reads_nothing(limit):
            raise refusal(f"an epoch of at most {limit} reads nothing")
        refuse_uncounted(source, limit)
        with self.attempt():
            read = self._input(source, chosen, name, "read", limit or UNLIMITED)
            arrange = getattr(source, "arrange", None)
            arranged: Stream = arrange(read) if arrange else read
            return arranged

    def policy(self, policy: Policy) -> AbstractContextManager[None]:
        """A region: operators written inside have ``policy`` unless they are given their own."""
        check_policy(policy)
        return self._region(policy)

    def latest(self, slow: Stream, fast: Stream, *, name: str | None = None) -> Stream:
        """The versions of ``slow``, at the epochs of ``fast``: see ``Stream.latest``."""
        meeting_place((slow, fast))
        refuse_numbers((slow, fast), "latest")
        if slow.loop is not None:
            raise refusal(f"{slow.name!r} is inside a loop: only what comes out has versions")
        source = self._source_of(fast)
        stem = f"{slow.name}-versions"
        with self.attempt():
            staged = self._output(STAGE, slow, lazy(), None, f"{name or stem}-out")
            return self._input(Versions(staged, source), batch(), name, stem, UNLIMITED)

    def write_together(
        self,
        streams: Mapping[str, Stream],
        sink: JointSink,
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> None:
        """Hands several streams to one sink, which shows each time of all of them at once."""
        if isinstance(sink, type) or not isinstance(sink, JointSink):
            raise refusal(f"{sink!r} takes one stream: it needs all that fk.JointSink asks for")
        if not streams or set(streams) != set(sink.parts):
            raise refusal(
                f"the streams {sorted(streams)} are written together, and the sink has places for"
                f" {sorted(sink.parts)}"
            )
        parts = [streams[part] for part in sink.parts]
        for stream in parts:
            self._refuse_unwritable(stream)
        chosen = sink_policy(sink, check_policy(policy), self.region)
        self._output(sink, parts[0], chosen, name, "write", *parts[1:])

    def build(self) -> Blueprint:
        """The finished description; refuses what cannot work."""
        if self._open_loops:
            raise refusal("a flow cannot be built inside the body of a loop")
        return build(self.name, self._nodes, self.location)

    def explain(self) -> str:
        """What will run and how it is protected, as text."""
        return explain(self.build())

    # What streams and operator libraries build with.

    @property
    def region(self) -> Policy | None:
        """The policy of the innermost region."""
        return self._regions[-1] if self._regions else None

    @property
    def nodes(self) -> dict[ProcessorId, Node]:
        """All that was written so far."""
        return dict(self._nodes)

    def fresh_name(self, given: str | None, stem: str) -> str:
        """The given name, if nobody has it yet, or one that is made from ``stem``."""
        return self._names.take(given, stem, user_location())

    def place(
        self,
        operator: Processor,
        inputs: tuple[Input, ...],
        loop: Loop | None,
        *,
        stem: str,
        name: str | None = None,
        policy: Policy | None = None,
        numbered: bool = False,
    ) -> Stream:
        """Adds an operator inside ``loop``, or one that takes ``numbered`` messages in order."""
        if numbered:
            refuse_waiting(operator)
        chosen = operator_policy(operator, check_policy(policy), self.region, numbered)
        node = ProcessorId(self.fresh_name(name, stem))
        order = loop.order if loop else Order.LEX
        self._nodes[node] = Node(
            node,
            operator,
            inputs,
            chosen,
            depth(loop),
            user_location(),
            order=order,
            numbered=numbered,
        )
        return Stream(self, node, loop, numbered=numbered)

    def write(self, stream: Stream, sink: Sink, name: str | None, policy: Policy | None) -> None:
        """Adds a sink behind ``stream``."""
        self._refuse_unwritable(stream)
        if isinstance(sink, type) or not isinstance(sink, Sink):
            raise refusal(f"{sink!r} is no sink: it needs all that fk.Sink asks for")
        chosen = sink_policy(sink, check_policy(policy), self.region)
        self._output(sink, stream, chosen, name, "write")

    def _refuse_unwritable(self, stream: Stream) -> None:
        meeting_place((stream,))
        refuse_numbers((stream,), "a sink")
        if stream.loop is not None:
            raise refusal(
                f"{stream.name!r} is inside the loop {stream.loop.name!r}: only what comes out of a"
                " loop can be written"
            )

    def extend(self, stream: Stream, *inputs: Input) -> None:
        """Gives the place where a loop begins what comes around."""
        node = self._nodes[stream.name]
        self._nodes[stream.name] = replace(node, inputs=(*node.inputs, *inputs))

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Writes several nodes at once: if one is refused, none of them was written."""
        nodes, names = dict(self._nodes), self._names.copy()
        try:
            yield
        except BaseException:
            self._nodes, self._names = nodes, names
            raise

    @contextmanager
    def body(self) -> Iterator[None]:
        """The body of a loop: while it is written the flow cannot be built."""
        self._open_loops += 1
        try:
            with self.attempt():
                yield
        finally:
            self._open_loops -= 1

    @contextmanager
    def _region(self, policy: Policy) -> Iterator[None]:
        self._regions.append(policy)
        try:
            yield
        finally:
            self._regions.pop()

    def _input(
        self,
        operator: Any,
        policy: Policy,
        name: str | None,
        stem: str,
        limit: Limit | Adaptive,
    ) -> Stream:
        node = ProcessorId(self.fresh_name(name, stem))
        self._nodes[node] = Node(
            node, operator, (), policy, 1, user_location(), Role.INPUT, limit=limit
        )
        return Stream(self, node, None)

    def _output(
        self,
        operator: Any,
        stream: Stream,
        policy: Policy,
        name: str | None,
        stem: str,
        *others: Stream,
    ) -> ProcessorId:
        inputs = tuple(entered(each, None) for each in (stream, *others))
        with self.attempt():
            node = ProcessorId(self.fresh_name(name, stem))
            written = Node(node, operator, inputs, policy, 1, user_location(), Role.OUTPUT)
            refuse_shared(written, self._nodes.values())
            self._nodes[node] = written
            return node

    def _source_of(self, stream: Stream) -> ProcessorId:
        """The one source that ``stream`` comes from."""
        found, pending = set[ProcessorId](), [stream.name]
        seen = set(pending)
        while pending:
            node = self._nodes[pending.pop()]
            if node.numbered:
                raise refusal(
                    f"{stream.name!r} has the epochs of the windows {node.name!r}: versions follow"
                    " the epochs of a source"
                )
            if node.role is Role.INPUT and not isinstance(node.operator, Versions):
                found.add(node.name)
            fresh = {each.source for each in node.inputs} - seen
            seen |= fresh
            pending += fresh
        if len(found) != 1:
            raise refusal(
                f"{stream.name!r} comes from {len(found)} sources ({', '.join(sorted(found))}):"
                " versions follow the epochs of one, so name it by its own stream"
            )
        return found.pop()

    def __repr__(self) -> str:
        return f"Dataflow({self.name!r}, {len(self._nodes)} processors)"


def reads_nothing(limit: Limit) -> bool:
    """Whether an epoch with such a limit could never have anything in it."""
    counts = (limit.rows, limit.files, limit.bytes)
    return any(n is not None and n < 1 for n in counts) or (limit.seconds or 0) < 0


def refuse_uncounted(source: Source, limit: Limit | Adaptive | None) -> None:
    """Refuses a limit in a unit that the source cannot count: nobody would heed it."""
    counts = getattr(source, "counts", UNITS)
    given = [limit.unit] if isinstance(limit, Adaptive) else UNITS
    for unit in given:
        asked = isinstance(limit, Adaptive) or getattr(limit, unit, None) is not None
        if asked and unit not in counts:
            raise refusal(
                f"{type(source).__name__} cannot limit an epoch by {unit}: it counts"
                f" {' and '.join(counts)}"
            )


def is_text(given: object) -> bool:
    """Whether something is a text, and not an empty one."""
    return isinstance(given, str) and bool(given)
