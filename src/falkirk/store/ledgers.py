"""Records and bases out of rows: those of a whole processor, or just what is to be folded."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection

from falkirk.core.machine.ledger import Base, Record
from falkirk.core.machine.message import Message
from falkirk.core.times import ProcessorId
from falkirk.store import statements as say
from falkirk.store.codec import parsed, time_from_key
from falkirk.store.contents import Decode, base_from_json, message_from_json, record_from_json
from falkirk.store.several import Place, at_places, in_pieces


def read_base(connection: Connection, p: ProcessorId, decode: Decode) -> Base | None:
    """What is folded below the low-watermark of ``p``, if anything is."""
    return bases_of(connection, [p], decode).get(p)


def bases_of(
    connection: Connection, names: Iterable[ProcessorId], decode: Decode
) -> dict[ProcessorId, Base]:
    """What is folded below the low-watermarks of processors, where anything is."""
    return {
        ProcessorId(row.name): base_from_json(parsed(row.base), decode)
        for piece in in_pieces(names)
        for row in connection.execute(say.BASES, {"names": piece})
    }


def read_records(connection: Connection, p: ProcessorId, decode: Decode) -> list[Record]:
    """The records of ``p``, sorted by time."""
    logged = connection.execute(say.LOGGED, {"p": p})
    return together(logged, connection.execute(say.RECORDS, {"p": p}), decode).get(p, [])


def records_at(
    connection: Connection, places: Collection[Place], decode: Decode
) -> dict[ProcessorId, list[Record]]:
    """The records at ``places``, each processor's sorted by time."""
    logged = at_places(connection, say.LOGGED_AT, places)
    return together(logged, at_places(connection, say.RECORDS_AT, places), decode)


def together(
    logged: Iterable[Any], kept: Iterable[Any], decode: Decode
) -> dict[ProcessorId, list[Record]]:
    """Records of their rows and of those of the messages that they logged."""
    sent: dict[Place, list[Message]] = defaultdict(list)
    for row in logged:
        time, value = time_from_key(row.sent_time), parsed(row.content)
        message = message_from_json(row.number, row.edge, time, value, decode)
        sent[row.processor, row.time].append(message)
    found: dict[ProcessorId, list[Record]] = defaultdict(list)
    for row in kept:
        time, value = time_from_key(row.time), parsed(row.content)
        messages = sent.get((row.processor, row.time), [])
        found[row.processor].append(record_from_json(time, value, messages, decode))
    for records in found.values():
        records.sort(key=lambda record: record.time)
    return found


def undecoded(value: Any) -> Any:
    """A batch left as it was written, for those who only move it."""
    return value
