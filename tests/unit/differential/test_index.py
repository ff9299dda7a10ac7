"""Finding rows by key without reading the rest: the same rows, and few others."""

import datetime
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from falkirk.differential import codes, index
from falkirk.differential.index import Index
from falkirk.differential.local import having
from falkirk.differential.weights import stacked

Draw = Callable[[random.Random], Any]
KINDS: dict[str, tuple[pa.DataType, Draw]] = {
    "int": (pa.int32(), lambda rng: rng.randrange(-5, 5)),
    "long": (pa.int64(), lambda rng: rng.choice([-1, 0, 1, 2**62, -(2**63)])),
    "text": (pa.string(), lambda rng: rng.choice(["", "a", "ab", "b", "ba", "é"])),
    "bytes": (pa.binary(), lambda rng: bytes([rng.randrange(3)]) * rng.randrange(3)),
    "double": (pa.float64(), lambda rng: rng.choice([0.0, -0.0, 1.5, float("nan")])),
    "flag": (pa.bool_(), lambda rng: rng.random() < 0.5),
    "day": (pa.date32(), lambda rng: datetime.date(2020, 1, rng.randrange(1, 5))),
    "price": (pa.decimal128(20, 2), lambda rng: Decimal(rng.randrange(-3, 3))),
}
"""Every kind of key, with values that are easily taken for one another."""


def drawn(rng: random.Random, names: list[str], rows: int, number: int) -> pa.Table:
    """Rows with numbers of their own; some of them are a part of a larger table."""
    columns = {
        name: pa.array([None if rng.random() < 0.1 else draw(rng) for _ in range(rows)], kind)
        for name, (kind, draw) in ((name, KINDS[name]) for name in names)
    }
    table = pa.table({**columns, "row": [1000 * number + i for i in range(rows)]})
    return table.slice(1) if rows > 3 and rng.random() < 0.3 else table


def rows_of(tables: list[pa.Table], names: list[str], wanted: pa.Table) -> list[int]:
    return sorted(having(stacked(tables), names, wanted)["row"].to_pylist())


@pytest.mark.parametrize("seed", range(20))
def test_an_index_finds_what_a_look_at_all_rows_finds(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    for limit, value in (("LOOSE_ROWS_MAX", 5), ("LOOSE_PIECES_MAX", 1), ("SCANNED_SHARE", 0)):
        monkeypatch.setattr(index, limit, value)  # everything is sorted, however little it is
    rng, known = random.Random(seed), Index()
    names, pieces = rng.sample(sorted(KINDS), rng.choice([1, 1, 2, 3])), list[pa.Table]()
    for number in range(12):
        pieces.append(drawn(rng, names, rng.randrange(1, 30), number))
        if rng.random() < 0.3:
            pieces.pop(rng.randrange(len(pieces)))  # merged, or rolled back
        if pieces and rng.random() < 0.1:
            pieces.append(rng.choice(pieces))  # the same rows twice
        counted = [piece for piece in pieces if rng.random() < 0.7]
        if not counted:
            continue
        wanted = drawn(rng, names, rng.randrange(1, 4), 0).select(names)
        found = known.narrowed(counted, names, wanted)
        assert rows_of(found, names, wanted) == rows_of(counted, names, wanted), (seed, number)


def pieces_of(rows: int) -> list[pa.Table]:
    return [
        pa.table({"k": range(start, start + rows), "v": [start] * rows}) for start in (0, 7, 900)
    ]


def test_little_is_read_of_much() -> None:
    pieces, wanted = pieces_of(5_000), pa.table({"k": [3, 905, 100_000]})
    found = Index().narrowed(pieces, ["k"], wanted)
    assert sum(table.num_rows for table in found) == 4
    assert sorted(stacked(found)["v"].to_pylist()) == [0, 0, 7, 900]


def test_a_layer_that_is_mostly_gone_is_made_anew() -> None:
    known, wanted = Index(), pa.table({"k": [3, 905]})
    pieces = pieces_of(5_000)
    known.narrowed(pieces, ["k"], wanted)
    del pieces[1:]
    known.narrowed([*pieces, *pieces_of(700)], ["k"], wanted)
    assert sum(layer.rows for layer in known.layers) == 5_000 + 3 * 700


def test_who_wants_most_of_the_rows_looks_at_all() -> None:
    known, pieces = Index(), pieces_of(2_000)
    assert known.narrowed(pieces, ["k"], pieces[0]) == pieces
    assert not known.layers


def test_long_texts_are_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = pa.array(["abc" * n for n in range(40)] * 2)
    at_once = codes.column_codes(texts).tolist()
    monkeypatch.setattr(codes, "TEXT_BYTES_MAX", 16)
    assert codes.column_codes(texts).tolist() == at_once
    assert len(set(at_once)) == 40
