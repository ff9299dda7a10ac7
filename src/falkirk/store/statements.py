"""What every transaction says to the database, put together once.

To put a statement together takes several times as long as to carry it out. ``p`` stands for a
processor and ``t`` for a time; ``keys``, ``names`` and ``ids`` for lists.
"""

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Table,
    bindparam,
    delete,
    insert,
    select,
    text,
    update,
)

from falkirk.store.tables import batches, checkpoints, lease, log, processors, records, uses


def one_of(name: str) -> BindParameter[object]:
    """A list that is given when the statement is carried out."""
    return bindparam(name, expanding=True)


def among(table: Table) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Where processors and times are in lists; see :func:`falkirk.store.several.at_places`."""
    return table.c.processor.in_(one_of("names")), table.c.time.in_(one_of("keys"))


P: BindParameter[str] = bindparam("p")
T: BindParameter[str] = bindparam("t")

HOLDER = select(lease).with_for_update()

INCARNATIONS = select(processors.c.name, processors.c.incarnation).where(
    processors.c.name.in_(one_of("names"))
)
BASES = select(processors.c.name, processors.c.base).where(
    processors.c.name.in_(one_of("names")), processors.c.base.is_not(None)
)
CHANGE_PROCESSOR = update(processors).where(processors.c.name == P)
PUT_PROCESSOR = insert(processors)
PUT_BASE = text(
    "INSERT INTO processors (name, incarnation, base) VALUES (:p, 0, :base)"
    " ON CONFLICT (name) DO UPDATE SET base = excluded.base"
)

PUT_RECORDS, PUT_LOG = insert(records), insert(log)
RECORDS = select(records).where(records.c.processor == P)
RECORDS_AT = select(records).where(*among(records))
TIMES = select(records.c.time).where(records.c.processor == P)
DROP_RECORD = delete(records).where(records.c.processor == P, records.c.time == T)
LOGGED = select(log).where(log.c.processor == P).order_by(log.c.time, log.c.position)
LOGGED_AT = select(log).where(*among(log)).order_by(log.c.time, log.c.position)
DROP_LOG = delete(log).where(log.c.processor == P, log.c.time == T)
SENT_ON = select(
    *(log.c.processor, log.c.time, log.c.position, log.c.number, log.c.sent_time, log.c.batch)
).where(log.c.edge == bindparam("on"))
DROP_LOGGED = delete(log).where(
    log.c.processor == P, log.c.time == T, log.c.position == bindparam("i")
)

PUT_CHECKPOINT = insert(checkpoints)
FRONTIERS = select(checkpoints.c.id, checkpoints.c.processor, checkpoints.c.frontier).where(
    checkpoints.c.processor.in_(one_of("names"))
)
DROP_CHECKPOINT = delete(checkpoints).where(
    checkpoints.c.processor == P, checkpoints.c.frontier == bindparam("reached")
)
DROP_CHECKPOINTS = delete(checkpoints).where(checkpoints.c.id.in_(one_of("ids")))

PUT_BATCHES, PUT_USES = insert(batches), insert(uses)
KNOWN = select(batches.c.name).where(batches.c.name.in_(one_of("names")))
USED = select(uses.c.batch).where(uses.c.batch.in_(one_of("names")))
DROP_BATCHES = delete(batches).where(batches.c.name.in_(one_of("names")))
USED_AT = select(uses).where(*among(uses))
DROP_USES = delete(uses).where(uses.c.processor == P, uses.c.time == T)
DROP_USE = DROP_USES.where(uses.c.part == bindparam("part_of"))
DROP_USE_OF = DROP_USES.where(uses.c.batch == bindparam("name"))
