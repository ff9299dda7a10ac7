"""Compressed files: what breaks off is told from what is whole, and where it breaks off."""

import bz2
import gzip
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from falkirk.connectors.compressed import BROKEN, PIECE_BYTES, broken, broken_line
from falkirk.connectors.locating import locate
from falkirk.connectors.unreadable import divided

LINES = [f"{n},{zlib.crc32(str(n).encode())}" for n in range(20_000)]
TEXT = "".join(f"{line}\n" for line in LINES).encode()
"""Packed it is several pieces long."""


def by_zstandard(text: bytes) -> bytes:
    packed: bytes = pa.compress(text, codec="zstd", asbytes=True)
    return packed


PACKING = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".deflate": zlib.compress,
    ".zst": by_zstandard,
}
every_packing = pytest.mark.parametrize(("suffix", "pack"), PACKING.items())


@every_packing
def test_what_breaks_off_is_found(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes]
) -> None:
    path, whole = tmp_path / f"a{suffix}", pack(TEXT)
    assert len(whole) > PIECE_BYTES
    for good in (whole, whole + pack(b"more\n"), b""):
        path.write_bytes(good)
        assert not broken([str(path)])
    for length in (1, 5, 100, PIECE_BYTES, PIECE_BYTES + 1, len(whole) - 9, len(whole) - 1):
        path.write_bytes(whole[:length])
        ((name, why),) = broken([str(path)])
        assert (name, why.startswith(BROKEN)) == (path.name, True)
    path.write_bytes(b"a text\n" * 100)
    assert [name for name, _ in broken([str(path)])] == [path.name]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".deflate"])
def test_the_line_is_the_one_in_which_it_breaks_off(tmp_path: Path, suffix: str) -> None:
    path, whole = tmp_path / f"a{suffix}", PACKING[suffix](TEXT)
    path.write_bytes(whole[:-1])
    assert broken_line(path) == len(LINES) + 1
    path.write_bytes(whole[: len(whole) // 2])
    line = broken_line(path)
    assert line is not None
    assert line < len(LINES)
    assert line > 1 or suffix == ".bz2", "that has one large block"
    path.write_bytes(whole[:100] + bytes(50) + whole[150:])
    assert broken_line(path) is None, "what is damaged has no line"


def test_several_files_at_once(tmp_path: Path) -> None:
    for name in "abcdefghijkl":
        cut = -1 if name in "cj" else None
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(TEXT)[:cut])
    (tmp_path / "plain.csv").write_bytes(TEXT)
    paths = sorted(str(path) for path in tmp_path.iterdir())
    good, bad = divided(paths, "csv")
    assert [name for name, _ in bad] == ["c.gz", "j.gz"]
    assert good == [path for path in paths if Path(path).name not in ("c.gz", "j.gz")]
    with pytest.raises(FileNotFoundError):
        divided([str(tmp_path / "none.gz")], "csv")


def test_where_lines_end_otherwise_there_is_no_line(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"1\n2\n")[:-1])
    wanted = Counter([f"{BROKEN}it breaks off"])
    assert [line for line, _ in locate(path, wanted, "csv", {})] == [3]
    for options in ({"lineSep": "|"}, {"encoding": "UTF-16LE"}):
        assert [line for line, _ in locate(path, wanted, "csv", options)] == [None]
