"""Records and bases out of rows: those of a whole processor, or just what is to be folded."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection

from falkirk.core.machine.ledger import Base, Record
from falkirk.core.machine.message import Message
from falkirk.core.times import ProcessorId
from falkirk.store import statements as say
from falkirk.store.codec import parsed, time_from_key
from falkirk.store.contents import Decode, base_from_json, message_from_json, record_from_json
from falkirk.store.several import in_pieces


def read_base(connection: Connection, p: ProcessorId, decode: Decode) -> Base | None:
    """What is folded below the low-watermark of ``p``, if anything is."""
    content = connection.scalar(say.BASE, {"p": p})
    return None if content is None else base_from_json(parsed(content), decode)


def read_records(
    connection: Connection, p: ProcessorId, decode: Decode, keys: Iterable[str] | None = None
) -> list[Record]:
    """The records of ``p``, sorted by time: all of them, or those with these time keys."""
    sent: dict[str, list[Message]] = defaultdict(list)
    found: list[Record] = []
    for piece in [None] if keys is None else in_pieces(keys):
        some = piece is not None
        logged, kept = (say.LOGGED_AT, say.RECORDS_AT) if some else (say.LOGGED, say.RECORDS)
        given = {"p": p, "keys": piece} if some else {"p": p}
        for row in connection.execute(logged, given):
            time, value = time_from_key(row.sent_time), parsed(row.content)
            message = message_from_json(row.number, row.edge, time, value, decode)
            sent[row.time].append(message)
        for row in connection.execute(kept, given):
            time, value = time_from_key(row.time), parsed(row.content)
            found.append(record_from_json(time, value, sent.get(row.time, []), decode))
    return sorted(found, key=lambda record: record.time)


def undecoded(value: Any) -> Any:
    """A batch left as it was written, for those who only move it."""
    return value
