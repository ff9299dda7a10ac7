"""Keys as numbers that can be sorted and searched: what is equal has the same one.

Keys of one column of whole numbers, moments or truth values are told apart exactly. Others may
share a number, hardly ever, so who looks rows up by number compares the keys themselves afterwards.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.differential.weights import settled_floats

Codes = Any
"""An array of NumPy, one number for each row."""

WORD = 64
STEP = 0x9E3779B97F4A7C15
"""An odd number that looks like chance: 2 to the 64th, divided by the golden ratio."""

TEXT_BYTES_MAX = 1 << 20
"""How many bytes of text are looked at in one go, with eight times as much memory."""


def tells_apart(schema: pa.Schema, keys: Sequence[str]) -> bool:
    """Whether only equal keys have the same number, nulls aside.

    >>> schema = pa.schema([("n", pa.int64()), ("day", pa.date32()), ("word", pa.string())])
    >>> [tells_apart(schema, keys) for keys in (["n"], ["day"], ["word"], ["n", "day"])]
    [True, True, False, False]
    """
    if len(keys) != 1:
        return False
    kind = schema.field(keys[0]).type
    types = pa.types
    return bool(types.is_integer(kind) or types.is_temporal(kind) or types.is_boolean(kind))


def codes(table: pa.Table, keys: Sequence[str]) -> Codes:
    """A number for each row; rows whose keys are equal, as SQL groups them, have the same.

    >>> table = pa.table({"a": [1, None, 1], "b": ["x", "y", "x"]})
    >>> one, other, again = codes(table, ["a", "b"])
    >>> bool(one == again), bool(one == other)
    (True, False)
    """
    table = settled_floats(table.select(list(keys)), keys)
    found = None
    for key in keys:
        numbers = column_codes(whole(table[key]))
        found = numbers if found is None else mixed(found) + numbers
    return found


def mixed(numbers: Codes) -> Codes:
    """Other numbers, one for each, that look like chance."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(STEP)
    return (numbers ^ (numbers >> np.uint64(27))) * np.uint64(STEP)


def whole(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else pa.concat_arrays(column.chunks or [pa.array([], column.type)])
    )


def column_codes(array: pa.Array) -> Codes:
    """The numbers of one column; null has 0."""
    kind = array.type
    if not len(array) or pa.types.is_null(kind):
        return np.zeros(len(array), np.uint64)
    if pa.types.is_boolean(kind):
        array = array.cast(pa.uint8())
    if is_text(kind):
        found = text_codes(array)
    else:
        found = word_codes(array)
        if pa.types.is_floating(kind):
            not_numbers = array.is_nan().fill_null(False)
            if not_numbers.true_count:
                found = np.where(places_of(not_numbers), np.uint64(STEP), found)
    if array.null_count:
        found = np.where(places_of(array.is_valid()), found, np.uint64(0))
    return found


def places_of(flags: pa.BooleanArray) -> Codes:
    """Truth values as NumPy has them."""
    return np.frombuffer(flags.cast(pa.uint8()).buffers()[1], np.uint8, len(flags)) != 0


def word_codes(array: pa.Array) -> Codes:
    """The numbers of values of fixed width: their bits."""
    width = array.type.bit_width
    words = max(1, width // WORD)
    kind = np.dtype(f"u{min(width, WORD) // 8}")
    start = array.offset * words * kind.itemsize
    bits = np.frombuffer(array.buffers()[1], kind, len(array) * words, start)
    if words == 1:
        return bits.astype(np.uint64)
    found = bits[::words].copy()
    for i in range(1, words):
        found = mixed(found) + bits[i::words]
    return found


def is_text(kind: pa.DataType) -> bool:
    """Whether values have lengths of their own."""
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    )


def text_codes(array: pa.Array) -> Codes:
    """The numbers of texts: a polynomial of their bytes, modulo 2 to the 64th."""
    types = pa.types
    large = types.is_large_string(array.type) or types.is_large_binary(array.type)
    kind = np.dtype(np.int64 if large else np.int32)
    _, places, data = array.buffers()
    offsets = np.frombuffer(places, kind, len(array) + 1, array.offset * kind.itemsize)
    offsets = offsets.astype(np.int64)
    content = np.frombuffer(data or b"", np.uint8)
    found = np.diff(offsets).astype(np.uint64)
    begin = 0
    while begin < len(array):
        end = int(np.searchsorted(offsets, offsets[begin] + TEXT_BYTES_MAX, "right")) - 1
        end = min(max(end, begin + 1), len(array))
        found[begin:end] += polynomials(content, offsets[begin : end + 1])
        begin = end
    return found


def polynomials(content: Codes, offsets: Codes) -> Codes:
    """The polynomial of each of some texts that stand one after the other."""
    lengths = np.diff(offsets)
    data = content[offsets[0] : offsets[-1]].astype(np.uint64) + np.uint64(1)
    powers = np.full(int(lengths.max()) + 1, STEP, np.uint64).cumprod(dtype=np.uint64)
    inside = np.arange(len(data)) - np.repeat(offsets[:-1] - offsets[0], lengths)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(data * powers[inside])])
    return sums[offsets[1:] - offsets[0]] - sums[offsets[:-1] - offsets[0]]


# Searching.


def places(ordered: Codes, wanted: Codes) -> tuple[Codes, Codes]:
    """Where each of the numbers ``wanted`` begins and ends among others that are in order."""
    return np.searchsorted(ordered, wanted), np.searchsorted(ordered, wanted, "right")


def ranges(first: Codes, last: Codes) -> Codes:
    """All places from each ``first`` to before its ``last``.

    >>> ranges(np.array([2, 5, 9]), np.array([4, 5, 10])).tolist()
    [2, 3, 9]
    """
    lengths = last - first
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(first - before, lengths)


def pairs(left: Codes, right: Codes) -> tuple[Codes, Codes]:
    """The places of all pairs of equal numbers.

    >>> [each.tolist() for each in pairs(np.array([7, 8]), np.array([8, 9, 8]))]
    [[1, 1], [0, 2]]
    """
    if len(left) < len(right):
        others, own = pairs(right, left)
        return own, others
    order = np.argsort(right, kind="stable")
    first, last = places(right[order], left)
    return np.repeat(np.arange(len(left)), last - first), order[ranges(first, last)]
