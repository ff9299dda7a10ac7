"""Rows of records, logged messages, checkpoints and uses, put and dropped inside one transaction.

Whoever drops the use of a batch adds its name to ``released``; :meth:`Rows.settle` then says which
batches have no use left.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from falkirk.core.errors import StoreError
from falkirk.core.machine.ledger import Base, Record
from falkirk.core.times import ProcessorId
from falkirk.store import statements as say
from falkirk.store import tables
from falkirk.store.codec import frontier_from_key, text, time_key
from falkirk.store.contents import References, base_to_json, message_to_json, record_to_json
from falkirk.store.files import Files
from falkirk.store.several import Place, at_places, in_pieces

Use = tuple[ProcessorId, str, str, References]
"""A processor, a time key, a part of what is kept there, and the batches that it names."""


class Rows:
    """The tables within one transaction."""

    def __init__(self, connection: Connection, files: Files) -> None:
        """Nothing is written yet."""
        self.connection, self.files = connection, files
        self.released: set[str] = set()

    def incarnations(self, names: Iterable[ProcessorId]) -> dict[ProcessorId, int]:
        """The incarnations of processors: earlier ones must not write any more."""
        found = dict.fromkeys(names, 0)
        for piece in in_pieces(found):
            rows = self.connection.execute(say.INCARNATIONS, {"names": piece})
            found |= {ProcessorId(row.name): row.incarnation for row in rows}
        return found

    def put_processor(self, p: ProcessorId, **values: Any) -> None:
        """Changes columns of the row of ``p``, which is made when first needed."""
        changed = self.connection.execute(say.CHANGE_PROCESSOR, {"p": p, **values})
        if not changed.rowcount:
            row = {"name": p, "incarnation": 0, "base": None, **values}
            self.connection.execute(say.PUT_PROCESSOR, row)

    def put_records(self, given: Mapping[ProcessorId, Sequence[Record]]) -> None:
        """Puts records of processors in the place of those at the same times."""
        newest = {(p, time_key(each.time)): each for p, some in given.items() for each in some}
        if not newest:
            return
        self.drop_records(newest)
        rows, logged, uses = [], [], list[Use]()
        for (p, key), record in newest.items():
            found: References = {}
            try:
                content = text(record_to_json(record, found))
                uses.append((p, key, "record", found))
                for position, message in enumerate(record.sent):
                    named: References = {}
                    row = {
                        "processor": p,
                        "time": key,
                        "position": position,
                        "edge": message.edge,
                        "number": message.number,
                        "sent_time": time_key(message.time),
                        "content": text(message_to_json(message, named)),
                        "batch": next(iter(named), None),
                    }
                    logged.append(row)
                    uses.append((p, key, str(position), named))
            except StoreError as error:
                raise StoreError(
                    f"the record of {p!r} at {record.time!r}: {error.args[0]}"
                ) from error
            rows.append({"processor": p, "time": key, "content": content})
        self.connection.execute(say.PUT_RECORDS, rows)
        if logged:
            self.connection.execute(say.PUT_LOG, logged)
        self.put_uses(uses)

    def drop_records(self, places: Collection[Place]) -> None:
        """Drops the records in these places, if there are any, with their log and their uses."""
        keys = in_rows(places)
        if keys and self.connection.execute(say.DROP_RECORD, keys).rowcount:
            self.connection.execute(say.DROP_LOG, keys)
            self.drop_uses(places)

    def put_bases(self, given: Mapping[ProcessorId, Base]) -> None:
        """Puts what is folded in the place of what was folded before.

        Most of its batches are the same ones.
        """
        named: dict[ProcessorId, References] = {p: {} for p in given}
        rows = [{"p": p, "base": text(base_to_json(base, named[p]))} for p, base in given.items()]
        self.connection.execute(say.PUT_BASE, rows)
        used = at_places(self.connection, say.USED_AT, [(p, tables.BASE) for p in given])
        before = {(ProcessorId(row.processor), row.batch) for row in used}
        gone = sorted((p, name) for p, name in before if name not in named[p])
        if gone:
            self.released.update(name for _, name in gone)
            keys = [{"p": p, "t": tables.BASE, "name": name} for p, name in gone]
            self.connection.execute(say.DROP_USE_OF, keys)
        self.put_uses(
            (p, tables.BASE, "base", {n: each for n, each in found.items() if (p, n) not in before})
            for p, found in named.items()
        )

    def put_checkpoints(self, written: Mapping[tuple[ProcessorId, str], Any]) -> None:
        """Puts rows of checkpoints in the place of those of the same processors and frontiers."""
        keys = [{"p": p, "reached": frontier} for p, frontier in written]
        if keys:
            self.connection.execute(say.DROP_CHECKPOINT, keys)
            self.connection.execute(say.PUT_CHECKPOINT, list(written.values()))

    def drop_checkpoints(self, unwanted: Mapping[ProcessorId, Callable[[Any], bool]]) -> None:
        """Drops the checkpoints of processors whose frontiers are unwanted, as each one says."""
        for names in in_pieces(unwanted):
            rows = self.connection.execute(say.FRONTIERS, {"names": names}).all()
            gone = [
                row.id for row in rows if unwanted[row.processor](frontier_from_key(row.frontier))
            ]
            for piece in in_pieces(gone):
                self.connection.execute(say.DROP_CHECKPOINTS, {"ids": piece})

    def put_uses(self, uses: Iterable[Use]) -> None:
        """Says who needs which batch, and which batches there are."""
        wanted: References = {}
        rows = []
        for p, key, part, found in uses:
            wanted |= found
            rows += [{"batch": name, "processor": p, "time": key, "part": part} for name in found]
        for piece in in_pieces(wanted):
            known = self.connection.scalars(say.KNOWN, {"names": piece}).all()
            fresh = [wanted[name] for name in piece if name not in set(known)]
            for reference in fresh:
                problem = self.files.refusal(reference)
                if problem:
                    raise StoreError(self.files.complaint(reference.name, problem))
            columns = tables.batches.c.keys()
            if fresh:
                self.connection.execute(
                    say.PUT_BATCHES, [{c: getattr(r, c) for c in columns} for r in fresh]
                )
        if rows:
            self.connection.execute(say.PUT_USES, rows)

    def drop_uses(self, places: Collection[Place]) -> None:
        """Nothing kept in these places needs a batch any more."""
        found = list(at_places(self.connection, say.USED_AT, places))
        if found:
            self.released.update(row.batch for row in found)
            owners = {(row.processor, row.time): None for row in found}
            self.connection.execute(say.DROP_USES, in_rows(owners))

    def drop_logged(self, logged: Sequence[Any]) -> None:
        """Drops rows of the log, one by one."""
        self.released.update(row.batch for row in logged if row.batch)
        keys = [
            {"p": row.processor, "t": row.time, "i": row.position, "part_of": str(row.position)}
            for row in logged
        ]
        self.connection.execute(say.DROP_LOGGED, keys)
        self.connection.execute(say.DROP_USE, keys)

    def settle(self) -> list[str]:
        """Forgets the batches that have no use left, and names them: their files can go."""
        unused: list[str] = []
        for piece in in_pieces(sorted(self.released)):
            still = set(self.connection.scalars(say.USED, {"names": piece}))
            gone = [name for name in piece if name not in still]
            if gone:
                self.connection.execute(say.DROP_BATCHES, {"names": gone})
                unused += gone
        return unused


def in_rows(places: Iterable[Place]) -> list[dict[str, str]]:
    """Places as what a statement wants for each."""
    return [{"p": p, "t": key} for p, key in places]
