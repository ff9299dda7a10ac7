"""Files that cannot be read to their end: cut off, something else, or damaged inside."""

import bz2
import lzma
import zlib
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from falkirk.connectors.avro_blocks import check_avro
from falkirk.connectors.unreadable import DECODING, WHOLE, divided

AVRO = (
    b'Obj\x01\x02\x16avro.schema\x0c"long"\x00' + b"m" * 16 + 2 * (b"\x04\x04\x02\x06" + b"m" * 16)
)
"""A map of one entry, the mark that ends it, and two blocks of the numbers 1 and 3."""


def test_an_avro_file_is_followed_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.avro"
    path.write_bytes(AVRO.replace(b"\x02\x16avro.schema\x0c", b"\x01\x26\x16avro.schema\x0c"))
    check_avro(str(path))
    beginning = AVRO.index(b"mm") + 16
    for length in set(range(len(AVRO))) - {beginning, beginning + 20}:
        path.write_bytes(AVRO[:length])
        with pytest.raises(ValueError, match=r"cut off|does not begin"):
            check_avro(str(path))
    for wrong, why in (
        (AVRO[:-1] + b"n", "does not end at byte"),
        (AVRO.replace(b"avro.schema", b"avro.dilemma"[:11]), "no schema"),
        (AVRO + b"\xff" * 10, "no number"),
        (AVRO + b"\x02" + b"\xff" * 8 + b"\x7f", "cut off"),
    ):
        path.write_bytes(wrong)
        with pytest.raises(ValueError, match=why):
            check_avro(str(path))


NUMBERS = b"\x02\x04\x06\x08" * 500
PACKING: dict[bytes, bytes] = {
    b"deflate": zlib.compress(NUMBERS, wbits=-15),
    b"snappy": pa.compress(NUMBERS, "snappy", asbytes=True)
    + zlib.crc32(NUMBERS).to_bytes(4, "big"),
    b"zstandard": pa.compress(NUMBERS, "zstd", asbytes=True),
    b"bzip2": bz2.compress(NUMBERS),
    b"xz": lzma.compress(NUMBERS),
    b"unheard-of": NUMBERS,
}


def long(value: int) -> bytes:
    """A number that is not negative, as Avro writes it."""
    value, found = value << 1, b""
    while value > 0x7F:
        value, found = value >> 7, found + bytes([value & 0x7F | 0x80])
    return found + bytes([value])


def packed_avro(codec: bytes, packed: bytes) -> bytes:
    """A file with one block of ``packed`` rows."""
    words = (b"avro.schema", b'"long"', b"avro.codec", codec)
    entries = b"".join(long(len(word)) + word for word in words)
    block = long(2000) + long(len(packed)) + packed
    return b"Obj\x01" + long(2) + entries + b"\x00" + b"m" * 16 + block + b"m" * 16


@pytest.mark.parametrize("codec", PACKING)
def test_blocks_of_avro_are_unpacked(tmp_path: Path, codec: bytes) -> None:
    packed, path = PACKING[codec], tmp_path / "a.avro"
    path.write_bytes(packed_avro(codec, packed))
    check_avro(str(path))
    middle = len(packed) // 2
    flipped = packed[:middle] + bytes([packed[middle] ^ 0x55]) + packed[middle + 1 :]
    # Deflate has no checksum: other rows may come of it.
    for damaged in (packed[:-5], *([flipped] * (codec != b"deflate"))):
        path.write_bytes(packed_avro(codec, damaged))
        if codec == b"unheard-of":
            check_avro(str(path))  # Spark may know it
            continue
        with pytest.raises(ValueError, match="cannot be unpacked"):
            check_avro(str(path))


def test_a_length_that_cannot_be_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "a.avro"
    path.write_bytes(packed_avro(b"snappy", b"\xff\xff\xff\xff\x0f" + PACKING[b"snappy"][2:]))
    with pytest.raises(ValueError, match="which no block"):
        check_avro(str(path))


def test_files_that_are_damaged_inside_are_told(tmp_path: Path) -> None:
    """Half of the rows; the end, which says what there is, is whole. ORC has no checksums."""
    table = pa.table({"n": range(10_000), "text": [str(n) for n in range(10_000)]})
    pq.write_table(table, tmp_path / "a.parquet", write_page_checksum=True)
    orc.write_table(table, tmp_path / "a.orc", compression="zlib")
    for format in ("parquet", "orc"):
        path = tmp_path / f"a.{format}"
        assert divided([str(path)], format) == ([str(path)], [])
        content = bytearray(path.read_bytes())
        half = len(content) // 2
        content[4:half] = b"\xff" * (half - 4)
        path.write_bytes(content)
        good, ((name, why),) = divided([str(path)], format)
        assert not good
        assert name == f"a.{format}"
        assert f"to its end as {format}" in why


def test_a_single_bit_of_parquet_is_noticed(tmp_path: Path) -> None:
    """As Spark writes it: with checksums, which its own reader does not compare."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": range(10_000)}), path, write_page_checksum=True)
    whole = path.read_bytes()
    for place in range(100, len(whole), len(whole) // 20):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert divided([str(path)], "parquet")[1]


def test_what_arrow_does_not_know_is_left_to_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(path: str) -> None:
        raise pa.ArrowNotImplementedError("no such codec")

    monkeypatch.setitem(DECODING, "parquet", unknown)
    assert divided(["a.parquet"], "parquet") == (["a.parquet"], [])


def test_files_that_are_something_else_are_told_from_those_that_are_gone(tmp_path: Path) -> None:
    table = pa.table({"n": range(100)})
    pq.write_table(table, tmp_path / "a.parquet")
    orc.write_table(table, tmp_path / "a.orc")
    (tmp_path / "a.avro").write_bytes(AVRO)
    for format in WHOLE:
        whole = (tmp_path / f"a.{format}").read_bytes()
        others = {"cut": whole[:-3], "empty": b"", "text": b"a text\n" * 100}
        for name, content in others.items():
            (tmp_path / f"{name}.{format}").write_bytes(content)
        paths = [str(tmp_path / f"{name}.{format}") for name in ("a", *others)]
        good, bad = divided(paths, format)
        assert good == paths[:1]
        assert [name for name, _ in bad] == [f"{name}.{format}" for name in others]
        assert all(f"to its end as {format}" in why for _, why in bad)
        with pytest.raises(FileNotFoundError):
            divided([str(tmp_path / "none")], format)
