"""Sequences: from epochs to sequence numbers and, by windows, back to epochs (§2.1, §3.2)."""

from dataclasses import replace
from typing import TYPE_CHECKING

from falkirk.core.policy import Policy
from falkirk.dataflow.defaults import check_policy, counting_policy, window_policy
from falkirk.dataflow.location import refusal
from falkirk.dataflow.loop import entered, meeting_place
from falkirk.dataflow.operators.in_sequence import InSequence
from falkirk.dataflow.operators.windows import Windows
from falkirk.dataflow.processor import Processor

if TYPE_CHECKING:
    from falkirk.dataflow.stream import Stream

BACK = "windows(count=n) makes epochs of them"


def in_step(streams: "tuple[Stream, ...]") -> bool:
    """Whether the streams have sequence numbers, all of them or none."""
    numbered = [stream for stream in streams if stream.numbered]
    if numbered and len(numbered) < len(streams):
        other = next(stream for stream in streams if not stream.numbered)
        raise refusal(
            f"{numbered[0].name!r} has sequence numbers and {other.name!r} has epochs, so they"
            f" cannot meet: in_sequence() numbers the one, windows(count=n) takes the other back"
        )
    return bool(numbered)


def refuse_numbers(streams: "tuple[Stream, ...]", what: str) -> None:
    """Refuses streams with sequence numbers for ``what``, which needs epochs."""
    for stream in streams:
        if stream.numbered:
            raise refusal(f"{what} needs epochs, and {stream.name!r} has sequence numbers: {BACK}")


def refuse_waiting(operator: Processor) -> None:
    """Refuses an operator that waits for notifications, of which a sequence has none."""
    if type(operator).on_notify is not Processor.on_notify:
        raise refusal(
            f"{type(operator).__name__} waits until times are complete (on_notify), and sequence"
            f" numbers never are: {BACK}"
        )


def in_sequence(stream: "Stream", name: str | None, policy: Policy | None) -> "Stream":
    """The batches of ``stream``, numbered; those of an epoch when it is complete."""
    meeting_place((stream,))
    if stream.numbered:
        raise refusal(f"{stream.name!r} has sequence numbers already")
    if stream.loop is not None:
        raise refusal(
            f"{stream.name!r} is inside the loop {stream.loop.name!r}: only what comes out of a"
            " loop can be numbered"
        )
    chosen = counting_policy(check_policy(policy), stream.flow.region)
    inputs = (entered(stream, None),)
    made = stream.flow.place(
        InSequence(), inputs, None, stem="in_sequence", name=name, policy=chosen
    )
    return replace(made, numbered=True)


def windows(
    streams: "tuple[Stream, ...]",
    operator: Processor | None,
    count: int | None,
    name: str | None,
    policy: Policy | None,
) -> "Stream":
    """Epochs of ``count`` messages, or as ``operator`` closes them."""
    meeting_place(streams)
    if not in_step(streams):
        raise refusal(f"{streams[0].name!r} has epochs already; in_sequence() numbers its batches")
    if (operator is None) == (count is None):
        raise refusal("windows needs count= or a processor that closes them, and not both")
    if operator is None:
        if len(streams) > 1 or not isinstance(count, int) or count < 1:
            raise refusal(f"a window has at least one message of one stream, not {count!r}")
        operator = Windows(count)
    chosen = window_policy(operator, check_policy(policy), streams[0].flow.region)
    inputs = tuple(entered(stream, None) for stream in streams)
    made = streams[0].flow.place(
        operator, inputs, None, stem="windows", name=name, policy=chosen, numbered=True
    )
    return replace(made, numbered=False)
