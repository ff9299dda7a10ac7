"""On which lines malformed records are: honest numbers, or none."""

import bz2
import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from falkirk.connectors.locating import locate

TEXT = "a,b\n1,x\nbad,y\n\nbad,y\r\n2\n"


def found(path: Path, wanted: list[str], format: str = "csv", **options: str) -> list[Any]:
    return locate(path, Counter(wanted), format, options)


def test_lines_are_counted_from_one_and_repeated_ones_are_all_found(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.encode())
    assert found(path, ["bad,y", "2", "bad,y"]) == [(3, "bad,y"), (5, "bad,y"), (6, "2")]


def test_a_header_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\nx\n")
    assert found(path, ["x"], header="true") == [(2, "x")]
    assert found(path, ["x"], "json", header="true") == [(1, "x")]


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_compressed_files(tmp_path: Path, suffix: str, compress: Any) -> None:
    path = tmp_path / f"a.csv{suffix}"
    path.write_bytes(compress(TEXT.encode()))
    assert found(path, ["2"]) == [(6, "2")]


def test_other_encodings_and_separators(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes("{}|ä|x".encode("latin-1"))
    assert found(path, ["ä"], "json", encoding="latin-1", lineSep="|") == [(2, "ä")]


def test_records_of_several_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('1,"x\ny"\nbad,"p\nq"\nbad,"p\nq"\nlast\n')
    wanted = ["last", 'bad,"p\nq"', 'bad,"p\nq"']
    lines = [line for line, _ in found(path, wanted, multiLine="true")]
    assert lines == [3, 5, 7]


def test_what_is_not_found_has_no_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\n")
    assert found(path, ["x", "x", "y"]) == [(1, "x"), (None, "x"), (None, "y")]
    assert found(tmp_path / "gone.csv", ["x"]) == [(None, "x")]
    assert found(path, ["x"], encoding="no-such-encoding") == [(None, "x")]
