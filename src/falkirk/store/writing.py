"""Carrying out the machine's effects on the rows, in order, inside one transaction."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from falkirk.core.errors import StoreError
from falkirk.core.machine.events import Collect, CollectLog, Persist, Retract
from falkirk.core.machine.flow import Flow
from falkirk.core.machine.ledger import Record, Sent, within
from falkirk.core.times import ProcessorId
from falkirk.store import noting
from falkirk.store import statements as say
from falkirk.store.codec import checkpoint_to_json, frontier_key, text, time_from_key
from falkirk.store.folding import collect
from falkirk.store.noticeboard import lower
from falkirk.store.noting import Note
from falkirk.store.rows import Rows

Other = Retract | CollectLog | Note


def carry_out_all(
    rows: Rows,
    effects: Iterable[Persist | Collect | Other],
    captures: Mapping[int, Any],
    flow: Flow | None,
) -> None:
    """Carries out effects in their order; a fold needs the ``flow``.

    Checkpoints in a row are written together, and so are folds.
    """
    for _, several in groupby(effects, type):
        alike = list(several)  # so two of these three have nothing to do
        persist(rows, [each for each in alike if isinstance(each, Persist)], captures)
        collect(rows, [each for each in alike if isinstance(each, Collect)], flow)
        for effect in alike:
            if isinstance(effect, Other):
                carry_out(rows, effect)


def carry_out(rows: Rows, effect: Other) -> None:
    """Carries out one effect that stands alone."""
    match effect:
        case Retract():
            retract(rows, effect)
        case CollectLog():
            collect_log(rows, effect)
        case Note():
            noting.write(rows.connection, effect)


def persist(rows: Rows, effects: Sequence[Persist], captures: Mapping[int, Any]) -> None:
    """Makes records and checkpoints visible, but for those whose incarnation is over.

    What several cost is hardly more than what one does: no statement is for one of them alone.
    """
    alive = rows.incarnations(effect.processor for effect in effects)
    current = [effect for effect in effects if effect.incarnation >= alive[effect.processor]]
    records: dict[ProcessorId, list[Record]] = {}
    checkpoints: dict[tuple[ProcessorId, str], Any] = {}
    for effect in current:
        p, frontier = effect.processor, frontier_key(effect.checkpoint.frontier)
        records.setdefault(p, []).extend(effect.records)
        checkpoints.pop((p, frontier), None)  # the last one counts, in its own place
        checkpoints[p, frontier] = {
            "processor": p,
            "frontier": frontier,
            "previous": frontier_key(effect.previous),
            "content": text(checkpoint_to_json(effect.checkpoint)),
            "captured": captured(effect, captures),
        }
    rows.put_records(records)
    rows.put_checkpoints(checkpoints)


def captured(effect: Persist, captures: Mapping[int, Any]) -> str | None:
    """What an opaque processor gave for its checkpoint; nothing of any other."""
    if not effect.capture:
        return None
    if effect.ticket not in captures:
        raise StoreError(
            f"the checkpoint of {effect.processor!r} at {effect.checkpoint.frontier!r} comes"
            f" without what it captured: give transact captures={{{effect.ticket}: …}}"
        )
    return text(captures[effect.ticket])


def retract(rows: Rows, effect: Retract) -> None:
    """Forgets a timeline, for everyone who went back."""
    for p, incarnation in effect.incarnations.items():
        rows.put_processor(p, incarnation=incarnation)
    for p, frontier in effect.frontiers.items():
        keys = rows.connection.scalars(say.TIMES, {"p": p})
        rows.drop_records([(p, key) for key in keys if time_from_key(key) not in frontier])
    rows.drop_checkpoints({p: partial(_outside, f) for p, f in effect.frontiers.items()})
    if effect.note is not None:  # a person's: it may lead below what monitors have posted
        lower(rows.connection, effect.incarnations, effect.frontiers)
        noting.write(rows.connection, effect.note)


def collect_log(rows: Rows, effect: CollectLog) -> None:
    """Forgets logged messages that their receiver will never ask for again."""
    gone = [
        row
        for row in rows.connection.execute(say.SENT_ON, {"on": effect.edge})
        if within(Sent(row.number, effect.edge, time_from_key(row.sent_time)), effect.reached)
    ]
    if gone:
        rows.drop_logged(gone)


def _outside(frontier: Any, reached: Any) -> bool:
    return not reached <= frontier
