"""Streams: frozen handles on what a place of a flow sends, and all that can be made of them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from falkirk.core.policy import Policy
from falkirk.core.times import ProcessorId
from falkirk.dataflow import loop as loops
from falkirk.dataflow import sequence
from falkirk.dataflow.arguments import (
    columns,
    expressions,
    function_of,
    one_of,
    processor_of,
    streams_of,
)
from falkirk.dataflow.batch import Frame
from falkirk.dataflow.connecting import Sink
from falkirk.dataflow.expression import read_key
from falkirk.dataflow.grouped import Grouped
from falkirk.dataflow.location import refusal
from falkirk.dataflow.meeting import operate, operate_together
from falkirk.dataflow.operators import join, newest
from falkirk.dataflow.operators.forward import Forward
from falkirk.dataflow.operators.plan import Together, Transform, Whole
from falkirk.dataflow.processor import Processor

if TYPE_CHECKING:
    from falkirk.dataflow.builder import Dataflow


@dataclass(frozen=True, slots=True, repr=False)
class Stream:
    """What one output of a processor sends: batches of rows, each at a time.

    Every method that makes a stream takes ``name=`` and ``policy=``. A ``numbered`` stream has
    sequence numbers for times: see ``in_sequence``.
    """

    flow: "Dataflow"
    name: ProcessorId
    loop: "loops.Loop | None" = None
    output: int = 0
    numbered: bool = False

    # Row by row.

    def select(
        self, *columns: str, name: str | None = None, policy: Policy | None = None
    ) -> "Stream":
        """The given SQL expressions of each row."""
        chosen = expressions(columns, "select")
        made = Transform(lambda frame: frame.selectExpr(*chosen))
        return operate(made, (self,), "select", name, policy)

    def where(
        self, condition: str, *, name: str | None = None, policy: Policy | None = None
    ) -> "Stream":
        """The rows for which an SQL condition holds."""
        (chosen,) = expressions((condition,), "where")
        made = Transform(lambda frame: frame.where(chosen))
        return operate(made, (self,), "where", name, policy)

    def transform(
        self,
        function: Callable[..., Frame],
        *others: "Stream",
        whole: bool = False,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Stream":
        """What ``function`` makes of a frame.

        It is applied to each batch as it comes, and a time may have several. With ``whole``, or
        with ``others``, it waits until the time is complete and gets one frame for each stream.
        """
        function_of(function, "transform")
        streams = (self, *streams_of(others, "transform"))
        if not whole and not others:
            return operate(Transform(function), streams, "transform", name, policy)
        made = Together(function, len(streams)) if others else Whole(function)
        needed = range(len(streams)) if others else ()
        return operate_together(made, streams, needed, "transform", name, policy)

    # Several streams.

    def union(
        self, *others: "Stream", name: str | None = None, policy: Policy | None = None
    ) -> "Stream":
        """The rows of all; they have the same columns, by name and type, in any order.

        A stream from outside a loop joins in the first round. In sequence, batches keep the order
        of their own stream.
        """
        if not others:
            raise refusal("a union needs another stream")
        streams = (self, *streams_of(others, "union"))
        return operate(Forward(), streams, "union", name, policy)

    def join(
        self,
        other: "Stream",
        on: str | Iterable[str],
        how: str = "inner",
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Stream":
        """The rows of both that agree on the columns ``on`` and have the same time.

        A stream from outside a loop has its rows in every round of it.
        """
        streams = (self, *streams_of((other,), "join"))
        made = join.Join(columns(on, "join"), one_of(how, join.KINDS, "join"))
        needed = join.NEEDED.get(how, ())
        return operate_together(made, streams, needed, "join", name, policy)

    def group_by(self, *keys: str) -> Grouped:
        """Groups for running aggregates, by columns or by expressions with a name."""
        if not keys:
            raise refusal("group_by needs a key: a column, or an expression AS a name")
        read = tuple(read_key(key) for key in keys)
        names = [key.name.lower() for key in read]  # Spark does not tell names apart by case
        for key in read:
            if names.count(key.name.lower()) > 1:
                raise refusal(f"group_by has the key {key.name!r} twice")
        return Grouped(self, read)

    def process(
        self,
        processor: Processor,
        *others: "Stream",
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Stream":
        """What a processor of your own sends; ``self`` comes in on port 0, ``others`` follow."""
        processor_of(processor, "process")
        streams = (self, *streams_of(others, "process"))
        stem = type(processor).__name__.lower()
        return operate(processor, streams, stem, name, policy)

    def port(self, output: int) -> "Stream":
        """The stream of another output port of the same processor."""
        operator = self.flow.nodes[self.name].operator
        ports = operator.outputs if isinstance(operator, Processor) else 1
        if not 0 <= output < ports:
            raise refusal(f"{self.name!r} has the output ports 0 to {ports - 1}, not {output}")
        return replace(self, output=output)

    # Loops.

    def iterate(
        self,
        body: Callable[["Stream"], object],
        *,
        name: str | None = None,
        order: str = "lex",
        rounds: int | None = None,
    ) -> "Stream":
        """A loop that begins with this stream and ends when nothing goes around any more.

        ``body`` gets the stream inside the loop and returns what goes around and what comes out, as
        a pair, or one stream for both. ``rounds`` bounds how often the body runs.
        """
        function_of(body, "iterate")
        sequence.refuse_numbers((self,), "iterate")
        return loops.iterate(self, body, name, order, rounds)

    # In order of arrival.

    def in_sequence(self, *, name: str | None = None, policy: Policy | None = None) -> "Stream":
        """The batches of this stream one after the other, each a message with a number.

        An epoch is forwarded when it is complete, and before any of the next. A processor behind
        this sees one message at a time, in order, is never notified, and may take snapshots
        (``fk.snapshot``). ``windows`` leads back to epochs.
        """
        return sequence.in_sequence(self, name, policy)

    def windows(
        self,
        processor: Processor | None = None,
        *others: "Stream",
        count: int | None = None,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Stream":
        """Epochs again: one of every ``count`` messages, or as ``processor`` closes them.

        What such a processor sends goes into the open window until it calls ``ctx.close()``. A
        window that is open when the flow stops is continued by the next run.
        """
        if processor is not None:
            processor_of(processor, "windows")
        streams = (self, *streams_of(others, "windows"))
        return sequence.windows(streams, processor, count, name, policy)

    # The newest version of a slow stream.

    def latest(self, slow: "Stream", *, name: str | None = None) -> "Stream":
        """The versions of ``slow``, as they come, at the epochs of this stream's source.

        A version is all that ``slow`` sends at one of its own times, once that can no longer
        change. The two sides never wait for each other, and never roll back because of each other.
        """
        streams_of((slow,), "latest")
        return self.flow.latest(slow, self, name=name)

    def join_latest(
        self,
        slow: "Stream",
        on: str | Iterable[str],
        how: str = "inner",
        *,
        otherwise: Mapping[str, str] | None = None,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Stream":
        """This stream's rows with those of the newest version of ``slow``.

        A left join needs ``otherwise``: SQL expressions for the columns of ``slow`` while there is
        no version yet.
        """
        one_of(how, newest.KINDS, "join_latest")
        if (how == "left") != bool(otherwise):
            raise refusal(
                "join_latest needs otherwise= with how='left', and only then: what the columns of"
                " the slow side are while it has no version"
            )
        made = newest.JoinNewest(columns(on, "join_latest"), how, otherwise or {})
        with self.flow.attempt():
            versions = self.latest(slow)
            return operate(made, (self, versions), "join_latest", name, policy)

    # The end.

    def write(self, sink: Sink, *, name: str | None = None, policy: Policy | None = None) -> None:
        """Hands all rows to ``sink``, time by time."""
        self.flow.write(self, sink, name, policy)

    def __repr__(self) -> str:
        return f"Stream({self.name!r} of {self.flow.name!r})"
