"""Where in the pieces of a trace the rows with given keys are, found without reading the rest.

Pieces never change, so what was found out about one stays true. They are sorted by key in *layers*,
each over several pieces: small layers are merged into larger ones, so there are few and a row is
sorted seldom. Which pieces count at a time the trace says, every time anew; rows of others that a
layer has are passed over. So an index is a memory and no state: it may be lost at any moment, and
rollback need not know of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from weakref import ref

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.differential.codes import Codes, codes, places, ranges
from falkirk.differential.weights import stacked

LOOSE_ROWS_MAX = 1024
LOOSE_PIECES_MAX = 16
"""So many rows, in so many pieces, are looked through as fast as they would be sorted."""

SCANNED_SHARE = 8
"""Who wants more than one key for so many rows looks at all of them."""


class Layer:
    """The rows of several pieces, and their numbers in order."""

    def __init__(self, pieces: Sequence[pa.Table], keys: Sequence[str]) -> None:
        """Sorts the rows of ``pieces``."""
        self.pieces = [ref(piece) for piece in pieces]
        self.table = stacked(pieces).combine_chunks()
        self.ends = np.cumsum([piece.num_rows for piece in pieces])
        numbers = codes(self.table, keys)
        self.order = np.argsort(numbers)
        self.codes = numbers[self.order]

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    def living(self) -> list[pa.Table]:
        """The pieces that somebody still holds."""
        return [piece for piece in (each() for each in self.pieces) if piece is not None]

    def find(self, keys: pa.Table, times: Codes) -> pa.Table:
        """The rows with given keys; of each piece as many times as ``times`` says."""
        wanted = np.unique(codes(like(keys, self.table.schema), keys.schema.names))
        rows = self.order[ranges(*places(self.codes, wanted))]
        if len(times) > 1 or times[0] > 1:
            rows = np.repeat(rows, times[np.searchsorted(self.ends, rows, "right")])
        return self.table.take(pa.array(rows))


def like(keys: pa.Table, model: pa.Schema) -> pa.Table:
    """Keys with the types that they have elsewhere, except where all are null."""
    for i, field in enumerate(keys.schema):
        kind = model.field(field.name).type
        if field.type != kind and not (pa.types.is_null(kind) or pa.types.is_null(field.type)):
            keys = keys.set_column(i, field.with_type(kind), keys[i].cast(kind, safe=False))
    return keys


@dataclass(slots=True)
class Place:
    """Where a piece is: it is the ``number``-th of its layer."""

    piece: "ref[pa.Table]"
    layer: Layer
    number: int


class Index:
    """The layers of one trace. Safe to use from several threads."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.layers: list[Layer] = []
        self._places: dict[int, Place] = {}
        self._lock = Lock()

    def narrowed(
        self, pieces: Sequence[pa.Table], keys: Sequence[str], wanted: pa.Table
    ) -> list[pa.Table]:
        """Tables with all rows of ``pieces`` whose keys are ``wanted``, and not many others.

        What is not worth sorting comes whole.
        """
        keys = sorted(keys)  # of rows without an order of their own
        with self._lock:
            loose, counted = self._sorted_out(pieces)
            rows = sum(piece.num_rows for piece in loose)
            if (
                rows > LOOSE_ROWS_MAX or len(loose) > LOOSE_PIECES_MAX
            ) and wanted.num_rows * SCANNED_SHARE <= rows:
                self._sort(loose, keys)
                loose, counted = self._sorted_out(pieces)
            found = [(layer, counted[id(layer)]) for layer in self.layers if id(layer) in counted]
        chosen = wanted.select(keys)
        return [layer.find(chosen, times) for layer, times in found] + loose

    def _sorted_out(self, pieces: Sequence[pa.Table]) -> tuple[list[pa.Table], dict[int, Codes]]:
        """The pieces that no layer has; for each layer, how often each of its pieces counts."""
        loose, counted = [], dict[int, Codes]()
        for piece in pieces:
            place = self._places.get(id(piece))
            if place is None or place.piece() is not piece:
                loose.append(piece)
                continue
            times = counted.get(id(place.layer))
            if times is None:
                times = counted[id(place.layer)] = np.zeros(len(place.layer.pieces), np.int64)
            times[place.number] += 1
        return loose, counted

    def _sort(self, loose: Sequence[pa.Table], keys: Sequence[str]) -> None:
        """Makes a layer of ``loose`` and of all layers that are not much larger."""
        taken = list({id(piece): piece for piece in loose}.values())
        rows = sum(piece.num_rows for piece in taken)
        kept: list[Layer] = []
        for layer in sorted(self.layers, key=lambda each: each.rows):
            living = layer.living()
            alive = sum(piece.num_rows for piece in living)
            if layer.rows <= 2 * rows or 2 * alive <= layer.rows:
                taken += living
                rows += alive
            else:
                kept.append(layer)
        self.layers = [*kept, Layer(taken, keys)]
        self._places = {
            id(piece): Place(each, layer, number)
            for layer in self.layers
            for number, each in enumerate(layer.pieces)
            if (piece := each()) is not None
        }
