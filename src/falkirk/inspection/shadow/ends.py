"""Where the epochs of the live flow end: a shadow keeps to them, so that times mean the same.

Only ends inside the input's low-watermark are followed, for those are never cut anew. A store
remembers the ends of some epochs that it has folded. Those before are not known one by one any
more; such epochs become one, the last of them.
"""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    insert,
    select,
)

from falkirk.core.frontier import SequenceFrontier
from falkirk.core.machine.boundary import whole_epochs
from falkirk.core.times import ProcessorId
from falkirk.inspection.look import Look
from falkirk.inspection.status import position
from falkirk.store.codec import parsed, text
from falkirk.store.ends import Ends

table = Table(
    "shadow_ends",
    MetaData(),
    Column("input", Text, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("first", BigInteger, nullable=False),
    Column("position", Text, nullable=False),
    PrimaryKeyConstraint("input", "epoch"),
)
"""Made in shadow stores only."""


@dataclass(frozen=True, slots=True)
class End:
    """That the rows of the epochs from ``first`` to ``epoch`` end at ``position``."""

    epoch: int
    first: int
    position: Any


def known_ends(look: Look, kept: Ends, p: ProcessorId, after: int) -> list[End]:
    """The ends of epochs after ``after`` that will never be cut anew, as far as they are known.

    ``kept`` has those that the live store remembers of what it has folded.
    """
    low, ledger, folded = low_watermark(look, p), look.stored[p].ledger, dict(kept.get(p, {}))
    folded |= {time[0]: position(state) for time, state in ledger.base.state}
    known = {epoch: where for epoch, where in folded.items() if (epoch,) in ledger.base.frontier}
    whole = any(epoch <= after for epoch in known)
    found = [End(epoch, epoch, known[epoch]) for epoch in sorted(known) if epoch > after]
    if found and not whole:  # what came before the first of them is not known one by one
        found[0] = replace(found[0], first=after + 1)
    for time, record in sorted(ledger.records.items()):
        if record.state and time in low and time[0] > after:
            found.append(End(time[0], time[0], position(record.state[-1])))
    return found


def closed_up_to(look: Look, p: ProcessorId) -> int:
    """The last epoch of an input that is closed for good, -1 if none is."""
    return last_epoch(low_watermark(look, p))


def low_watermark(look: Look, p: ProcessorId) -> Any:
    """What ``p`` never goes back behind by itself; pins and monitors hold back less than that."""
    return look.stored[p].ledger.base.frontier | look.solution.frontiers[p]


def last_epoch(frontier: Any) -> int:
    """The last epoch that lies in ``frontier`` as a whole; -1 if none does, or there are none."""
    return -1 if isinstance(frontier, SequenceFrontier) else int(whole_epochs(frontier))


def write_ends(connection: Connection, p: ProcessorId, ends: list[End]) -> None:
    """Remembers ends; those that are there stay."""
    known = set(connection.scalars(select(table.c.epoch).where(table.c.input == p)))
    rows = [
        {"input": p, "epoch": e.epoch, "first": e.first, "position": text(e.position)}
        for e in ends
        if e.epoch not in known
    ]
    if rows:
        connection.execute(insert(table), rows)


def read_ends(connection: Connection, p: ProcessorId) -> list[End]:
    """What is remembered of an input, in order."""
    rows = connection.execute(select(table).where(table.c.input == p).order_by(table.c.epoch)).all()
    return [End(int(row.epoch), int(row.first), parsed(row.position)) for row in rows]
