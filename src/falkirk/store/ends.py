"""Where the last epochs of each input ended: an input itself needs to know only where it stands.

Who wants to read the same epochs again, beside the flow, finds their ends here.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy import text as statement

from falkirk.core.machine.ledger import Record
from falkirk.core.times import ProcessorId
from falkirk.store import tables
from falkirk.store.codec import parsed, text

END = "end:"
KEPT = 1000
"""Of how many epochs of an input the ends are remembered at least, after they were folded."""

TIDY = 50
"""Older ones are forgotten every so many epochs."""

PUT = statement(
    "INSERT INTO facts (name, value) VALUES (:name, :value)"
    " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)

Ends = dict[ProcessorId, dict[int, Any]]
"""Positions by input and epoch."""


def remember(connection: Connection, p: ProcessorId, records: Collection[Record]) -> None:
    """The epochs of an input that are folded now; their positions are as they were written."""
    rows = [
        {"name": name_of(p, record.time[0]), "value": text(record.state[-1]["json"])}
        for record in records
        if record.state and "json" in record.state[-1]
    ]
    if not rows:
        return
    connection.execute(PUT, rows)
    epochs = [record.time[0] for record in records]
    if any(epoch % TIDY == 0 for epoch in epochs) and max(epochs) >= KEPT:
        facts, passed = tables.facts, name_of(p, max(epochs) - KEPT)
        old = (facts.c.name >= name_of(p, 0)) & (facts.c.name <= passed)
        connection.execute(delete(facts).where(old))


def ends_in(connection: Connection) -> Ends:
    """All that is remembered."""
    facts = tables.facts
    found: Ends = {}
    for row in connection.execute(select(facts).where(facts.c.name.startswith(END))):
        p, _, epoch = row.name.removeprefix(END).rpartition(":")
        found.setdefault(ProcessorId(p), {})[int(epoch)] = parsed(row.value)
    return found


def name_of(p: ProcessorId, epoch: int) -> str:
    """The name of a fact; names are in the order of epochs.

    >>> name_of("files", 7)
    'end:files:000000000007'
    """
    return f"{END}{p}:{epoch:012d}"
