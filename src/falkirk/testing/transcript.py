"""A run in words: one line for each event, and one below it for each effect.

Nothing is written while a run goes on; it keeps what happened, and this reads it afterwards.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from falkirk.core.frontier import show_time
from falkirk.core.machine import events as e
from falkirk.core.times import SequenceNumber
from falkirk.testing.faults import Fault

Entry = tuple[str, Any]
"""What was done, and with what: an event, an effect, work or a fault."""


def transcript(entries: Iterable[Entry]) -> list[str]:
    """The lines of a run.

    >>> transcript([("fault", Fault.parse("kill:p1")), ("event", e.Persisted(7))])
    ['fault: kill:p1', '#7 is durable']
    """
    return [line for what, subject in entries if (line := _line(what, subject))]


def _line(what: str, subject: Any) -> str:
    if what == "begin":
        return f"{subject.processor} ← {_item(subject.item)}"
    if what == "effect":
        if isinstance(subject, e.Collect | e.CollectLog):
            return ""  # said when the store does it
        return f"    → {_effect(subject)}"
    if isinstance(subject, Fault):
        return f"fault: {subject}"
    if what == "event":
        return _event(subject)
    return f"{what} {_effect(subject)}"


def _item(item: e.Item) -> str:
    match item:
        case e.Delivery():
            return f"message {_time(item.message.time)} on {item.message.edge}: " + _batch(
                item.message.batch
            )
        case e.Notification():
            return f"notification {_time(item.time)}"
        case e.Again():
            what = f"message on {item.past.edge}" if item.past.edge else "notification"
            return f"replayed {what} {_time(item.time)}"


def _event(event: e.Event) -> str:
    match event:
        case e.Finish():
            work = event.work
            return f"{work.processor} done with {_time(work.time)}{_result(event.result)}"
        case e.Pin():
            return f"pinned: {', '.join(sorted(event.kept)) or 'nothing'}"
        case e.GoBack():
            return f"somebody takes back {', '.join(sorted(event.bounds))}"
        case e.PutBack():
            return f"{event.work.processor} gives back {_time(event.work.time)}"
        case e.Compacted():
            times = ", ".join(_time(time) for time, _ in event.taken)
            return f"{event.processor} compacts {times}"
        case e.Ingest():
            return f"{event.processor} ← input {_batch(event.batch)}"
        case e.Close():
            return f"{event.processor} closes its epoch"
        case e.End():
            return f"{event.processor} ends"
        case e.Persisted():
            numbers = ", ".join(f"#{ticket}" for ticket in event.tickets)
            return f"{numbers} {'is' if len(event.tickets) == 1 else 'are'} durable"
        case e.Delivered():
            return f"outside has {event.processor} {_time(event.time)}"
        case e.Suspect():
            return f"suspect {_names(event.processors)}"
        case e.Trust():
            return f"trust {_names(event.processors)}"
        case e.Fail():
            return ""  # the fault said so, and RolledBack says what came of it
        case e.Tick():
            return f"it is {event.now:g} s"
        case e.Flush():
            return "flush"


def _result(result: e.Result) -> str:
    parts = [f"{edge} {_time(time)}: {_batch(batch)}" for edge, time, batch in result.sends]
    text = f", sends {'; '.join(parts)}" if parts else ""
    if result.requests:
        text += f", asks for {', '.join(map(_time, result.requests))}"
    return text if result.state is None else f"{text}, state {_batch(result.state)}"


def _effect(effect: e.Effect) -> str:
    match effect:
        case e.Persist():
            return f"persist #{effect.ticket} {effect.processor} {effect.checkpoint.frontier!r}"
        case e.Retract():
            return f"retract {_frontiers(effect.frontiers)}"
        case e.Collect():
            return f"collect {effect.processor} inside {effect.watermark!r}"
        case e.CollectLog():
            return f"collect the log of {effect.edge} inside {effect.reached!r}"
        case e.Acknowledge():
            return f"acknowledge {effect.processor} {effect.frontier!r}"
        case e.Release():
            return f"release {effect.processor} {_time(effect.time)}: {_batch(effect.batches)}"
        case e.Rewind():
            return f"rewind {effect.processor} to {effect.frontier!r}"
        case e.Restore():
            return f"restore {effect.processor} at {effect.frontier!r}"
        case e.RolledBack():
            moved = {p: f for p, f in effect.frontiers.items() if not f.is_top}
            others = "; others keep ⊤" if len(moved) < len(effect.frontiers) else ""
            return f"fail {_names(effect.failed)} → {_frontiers(moved)}{others}"


def _names(processors: Iterable[str]) -> str:
    return ", ".join(sorted(processors))


def _frontiers(frontiers: Mapping[Any, Any]) -> str:
    return ", ".join(f"{p} {frontier!r}" for p, frontier in frontiers.items())


def _time(time: Any) -> str:
    if time is None:
        return "next"
    if isinstance(time, SequenceNumber):
        return f"{time.edge}#{time.number}"
    return show_time(time)


def _batch(batch: Any) -> str:
    """Items as label=value, with the tag where there is one."""
    try:
        return ", ".join(f"{a}={b}" + (f"~{c}" if c else "") for a, b, c in batch) or "nothing"
    except (TypeError, ValueError):
        return repr(batch)
