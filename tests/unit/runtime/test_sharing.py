"""Which batches of a checkpoint go into one file."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
from tests.contracts.store.places import persist

from falkirk.core.machine.events import Persist
from falkirk.core.machine.ledger import Record
from falkirk.core.machine.message import Message
from falkirk.core.times import EdgeId
from falkirk.runtime import sharing
from falkirk.runtime.batch import Batch
from falkirk.runtime.content import Content
from falkirk.runtime.sharing import files_to_write
from falkirk.store.reference import Piece, Reference

MATERIALISER: Any = None


def small(rows: int = 1, label: str = "", column: str = "n") -> Batch:
    """A batch that rests on the driver."""
    return Batch(
        Content(table=pa.table({column: pa.array([1] * rows, pa.int64())})), MATERIALISER, label
    )


def saved(*batches: Batch, sent: tuple[Batch, ...] = ()) -> Persist:
    """A checkpoint with a time for each batch of state; the first one sends, too."""
    records = [Record((i,), state=[batch]) for i, batch in enumerate(batches)]
    records[0].sent = [Message(i, EdgeId("e"), (0,), (0,), batch) for i, batch in enumerate(sent)]
    return replace(persist("b", 0), records=tuple(records))


def shared(*batches: Batch) -> list[list[int]]:
    """Which of ``batches`` are written together, if they are the state of a checkpoint."""
    contents = [batch.content for batch in batches]
    found = sharing.files_to_write([saved(*batches)])
    return [[contents.index(each) for each in some] for _, some in found]


def test_small_batches_go_together() -> None:
    assert shared(small(), small(0), small(3)) == [[0, 1, 2]]


def test_what_has_another_label_or_other_columns_does_not() -> None:
    assert shared(small(), small(label="x"), small(), small(column="m")) == [[0, 2], [1], [3]]


def test_a_file_is_no_larger_than_it_may_be() -> None:
    rows = sharing.SHARED_BYTES_MAX // 8
    assert shared(small(rows), small(rows // 2), small(rows // 2), small(1)) == [[0], [1, 2], [3]]
    assert shared(small(), small(rows + 1), small()) == [[0, 2], [1]]


def test_a_piece_of_a_trace_has_a_file_of_its_own() -> None:
    piece = small()
    piece.content.piece = Piece(1, 4)
    assert shared(small(), piece, small()) == [[0, 2], [1]]


def test_what_is_not_on_the_driver_has_one_too() -> None:
    cached = Batch(Content(plan=object()), MATERIALISER)
    assert shared(small(), cached, small()) == [[0, 2], [1]]


def test_what_is_durable_is_not_written_again() -> None:
    durable = small()
    durable.content.reference = Reference("n", "file", 1, 1, "")
    assert shared(small(), durable, small()) == [[0, 2]]


def test_what_somebody_else_needs_has_a_file_of_its_own() -> None:
    """Others may write it meanwhile; and what is sent goes when it is acknowledged."""
    one, two, other, message = small(), small(), small(), small()
    effects = [saved(one, two, other, sent=(message, one.lend())), saved(two.lend())]
    found = [(effects.index(effect), contents) for effect, contents in files_to_write(effects)]
    assert found == [
        (0, [message.content]),
        (0, [one.content]),
        (0, [one.content]),
        (0, [two.content]),
        (0, [other.content]),
        (1, [two.content]),
    ]
