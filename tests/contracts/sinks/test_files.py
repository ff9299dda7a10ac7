"""The sinks without a server keep the contract."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from falkirk.connectors import FileSink, Function, ParquetSink
from falkirk.core.errors import ConnectorError, PermanentError
from falkirk.testing.contracts import SinkContract
from falkirk.testing.contracts.sinks import all_types, attach, rows_of, some


class TestParquet(SinkContract):
    """A folder of Parquet files."""

    @pytest.fixture
    def make(self, tmp_path: Path) -> Callable[[], Any]:
        return lambda: ParquetSink(tmp_path / "out")

    @pytest.fixture
    def shown(self, tmp_path: Path) -> Callable[[], Any]:
        return lambda: read_epochs(tmp_path / "out")


class TestOrc(SinkContract):
    """A folder of ORC files, by Arrow."""

    @pytest.fixture
    def make(self, tmp_path: Path) -> Callable[[], Any]:
        return lambda: FileSink(tmp_path / "out", "orc")

    @pytest.fixture
    def types(self) -> Any:
        """Those that Arrow writes; Spark writes the others."""
        kinds = all_types().schema
        return all_types().select([k.name for k in kinds if not pa.types.is_temporal(k.type)])

    @pytest.fixture
    def shown(self, tmp_path: Path) -> Callable[[], Any]:
        return lambda: [
            row
            for file in sorted((tmp_path / "out").glob("epoch=*/*.orc"))
            for row in orc.ORCFile(file).read().to_pylist()
        ]


class TestFunction(SinkContract):
    """A function that adds to a list."""

    @pytest.fixture
    def found(self) -> list[Any]:
        return []

    @pytest.fixture
    def make(self, found: list[Any]) -> Callable[[], Any]:
        return lambda: Function(lambda time, table: found.extend(table.to_pylist()))

    @pytest.fixture
    def shown(self, found: list[Any]) -> Callable[[], Any]:
        return lambda: found


class TestIdempotentFunction(SinkContract):
    """A function that knows what it has, by the time."""

    @pytest.fixture
    def found(self) -> dict[Any, Any]:
        return {}

    @pytest.fixture
    def make(self, found: dict[Any, Any]) -> Callable[[], Any]:
        # Two outputs of one function share it, so it looks at the rows too.
        return lambda: Function(
            lambda time, table: found.update({(time, str(table)): table.to_pylist()}),
            idempotent=True,
        )

    @pytest.fixture
    def shown(self, found: dict[Any, Any]) -> Callable[[], Any]:
        return lambda: [row for rows in found.values() for row in rows]


def read_epochs(folder: Path) -> list[dict[str, Any]]:
    """What a reader of the folder finds."""
    files = sorted(folder.glob("epoch=*/*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def test_what_another_store_left_can_be_replaced(tmp_path: Path) -> None:
    first = ParquetSink(tmp_path / "out")
    attach(first, store="gone")
    first.write("out", (0,), some(0, 1))
    second = ParquetSink(tmp_path / "out", replace=True)
    attach(second, store="new")
    second.write("out", (0,), some(2))
    attach(second, store="new")
    assert read_epochs(tmp_path / "out") == rows_of(2)


def test_a_folder_whose_store_nobody_knows_is_refused(tmp_path: Path) -> None:
    sink = ParquetSink(tmp_path / "out")
    sink.write("out", (0,), some(0))
    with pytest.raises(PermanentError, match="replace=True"):
        attach(sink)


def test_the_epochs_of_one_folder_have_one_format(tmp_path: Path) -> None:
    first = ParquetSink(tmp_path / "out")
    attach(first)
    attach(FileSink(tmp_path / "out", "orc"))  # there is no epoch yet
    attach(first)
    first.write("out", (0,), some(0))
    with pytest.raises(PermanentError, match=r"epochs of 'out' as parquet files.* another folder"):
        attach(FileSink(tmp_path / "out", "orc", replace=True))
    attach(FileSink(tmp_path / "out"))
    assert read_epochs(tmp_path / "out") == rows_of(0)


def test_what_spark_does_not_write_as_files_is_refused(tmp_path: Path) -> None:
    for format, why in (("binaryFile", "does not write it"), ("delta", r"fk\.DeltaSink")):
        with pytest.raises(ConnectorError, match=why):
            FileSink(tmp_path, format)
