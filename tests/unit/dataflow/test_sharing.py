"""Two outputs of a flow never write to a place that only one of them can have."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.core.errors import DefinitionError
from falkirk.dataflow import Dataflow

DATABASE = "postgresql://me:secret@db/shop"


class Placed(Sink):
    """A user's own sink that says where it writes."""

    def __init__(self, *places: Any) -> None:
        super().__init__()
        self.places = places


def written(first: Any, second: Any) -> Dataflow:
    """A flow that writes the same rows to two sinks."""
    flow = fk.Dataflow("two")
    rows = flow.read(Source(), name="rows")
    rows.write(first, name="first")
    rows.write(second, name="second")
    return flow


def together(sink: fk.TableSink) -> Dataflow:
    """A flow that writes to a table alone, and together with another one."""
    flow = fk.Dataflow("together")
    rows = flow.read(Source(), name="rows")
    rows.write(sink, name="first")
    both = fk.TableSinks({"a": sink, "b": fk.TableSink(DATABASE, "other", epoch="epoch")})
    flow.write_together({"a": rows, "b": rows}, both, name="second")
    return flow


def test_both_outputs_are_named_with_their_lines_and_what_to_do(tmp_path: Path) -> None:
    flow = fk.Dataflow("two")
    rows = flow.read(Source(), name="rows")
    frame = inspect.currentframe()
    assert frame is not None
    rows.write(fk.ParquetSink(tmp_path / "out"), name="w")
    line = frame.f_lineno - 1
    with pytest.raises(DefinitionError) as refused:
        rows.write(fk.ParquetSink(tmp_path / "out"), name="w2")
    said = str(refused.value)
    place = re.escape(str(tmp_path / "out"))
    file = r"tests/unit/dataflow/test_sharing\.py"
    assert re.match(
        rf"\[FK100\] {file}:{line + 3}: 'w2' writes to {place}, and so does 'w' \({file}:{line}\):",
        said,
    ), said
    assert "Give each a place of its own, or unite the two streams" in said


def test_what_was_refused_was_not_written(tmp_path: Path) -> None:
    flow = fk.Dataflow("again")
    rows = flow.read(Source(), name="rows")
    rows.write(fk.ParquetSink(tmp_path / "out"), name="w")
    with pytest.raises(DefinitionError):
        rows.write(fk.ParquetSink(tmp_path / "out"), name="w2")
    rows.write(fk.ParquetSink(tmp_path / "other"), name="w2")
    assert set(flow.build().sinks) == {"w", "w2"}


def test_a_folder_is_the_same_however_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for other in (tmp_path / "real", "./x/../real", "link"):
        with pytest.raises(DefinitionError, match="and so does 'first'"):
            written(fk.ParquetSink("real"), fk.FileSink(other, "json"))


def test_dead_letters_of_two_sources_have_two_folders(tmp_path: Path) -> None:
    flow = fk.Dataflow("letters")
    dead = fk.DeadLetters(tmp_path / "dead")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    flow.read(fk.Files(tmp_path / "a", "csv", "n INT", malformed=dead), name="a")
    with pytest.raises(DefinitionError, match=r"'b-dead-letters' writes .* 'a-dead-letters'"):
        flow.read(fk.Files(tmp_path / "b", "csv", "n INT", malformed=dead), name="b")


@pytest.mark.parametrize("inner", ["dead", "dead/letters", "epoch=3/_x"])
def test_a_folder_inside_another_ones_would_be_read_with_it(tmp_path: Path, inner: str) -> None:
    outer, inside = fk.ParquetSink(tmp_path / "out"), fk.DeadLetters(tmp_path / "out" / inner)
    for pair in ((outer, inside), (inside, outer)):
        with pytest.raises(DefinitionError, match="one folder lies inside the other"):
            written(*pair)


@pytest.mark.parametrize("other", ["output", "out/_dead"])
def test_folders_that_nobody_reads_together_are_fine(tmp_path: Path, other: str) -> None:
    out, beside = fk.ParquetSink(tmp_path / "out"), fk.DeadLetters(tmp_path / other)
    for pair in ((out, beside), (beside, out)):
        assert len(written(*pair).build().sinks) == 2


@pytest.mark.parametrize(
    "inner", ["", "files", "files/_x", "_delta_log", "_delta_log/x", "_delta_index"]
)
@pytest.mark.parametrize("address", ["", "file://"])
def test_files_in_the_folder_of_a_delta_table_would_be_deleted_by_its_vacuum(
    tmp_path: Path, inner: str, address: str
) -> None:
    table = fk.DeltaSink(f"{address}{tmp_path}/out")
    for files in (fk.FileSink(tmp_path / "out" / inner, "json"), Placed(tmp_path / "out" / inner)):
        for pair in ((table, files), (files, table)):
            with pytest.raises(DefinitionError, match=r"and so does|one folder lies inside"):
                written(*pair)


def test_a_delta_table_inside_another_ones_folder_is_refused(tmp_path: Path) -> None:
    inner = fk.DeltaSink(tmp_path / "out" / "inner")
    for outer in (fk.DeltaSink(tmp_path / "out"), fk.ParquetSink(tmp_path / "out")):
        for pair in ((outer, inner), (inner, outer)):
            with pytest.raises(DefinitionError, match="one folder lies inside the other"):
                written(*pair)


@pytest.mark.parametrize("other", ["output", "out/_dead"])
def test_folders_that_vacuum_passes_over_are_fine(tmp_path: Path, other: str) -> None:
    table = fk.DeltaSink(tmp_path / "out")
    for beside in (fk.DeadLetters(tmp_path / other), fk.DeltaSink(tmp_path / other)):
        for pair in ((table, beside), (beside, table)):
            assert len(written(*pair).build().sinks) == 2


def test_only_sinks_of_one_class_share_what_they_may_share() -> None:
    class Sharing(Placed):
        shares = True

    assert len(written(Sharing("a"), Sharing("a")).build().sinks) == 2
    for pair in ((Sharing("a"), Placed("a")), (Placed("a"), Sharing("a"))):
        with pytest.raises(DefinitionError, match="'second' writes to a, and so does 'first'"):
            written(*pair)


@pytest.mark.parametrize(
    "sink",
    [
        fk.TableSink(DATABASE, "orders"),
        fk.TableSink(DATABASE, "orders", mode="upsert", key="k"),
        fk.KafkaSink("localhost:9092", "orders"),
        fk.KafkaSink("localhost:9092", "orders", transactional=False, marks="ours"),
        fk.DeltaSink("orders"),
        fk.Function(print),
        Sink(),
    ],
    ids=lambda sink: type(sink).__name__,
)
def test_where_each_output_is_told_from_others_they_may_share(sink: Any) -> None:
    assert len(written(sink, sink).build().sinks) == 2


def test_rows_that_are_taken_back_by_their_epoch_are_one_outputs_own() -> None:
    with pytest.raises(DefinitionError, match="the column 'epoch' of 'orders' at") as refused:
        written(*(fk.TableSink(DATABASE, "orders", epoch="epoch") for _ in range(2)))
    assert "secret" not in str(refused.value)
    with pytest.raises(DefinitionError, match="'second' writes to the column 'epoch' of 'orders'"):
        together(fk.TableSink(DATABASE, "orders", epoch="epoch"))
    other = fk.TableSink(DATABASE, "orders", epoch="another")
    flow = written(fk.TableSink(DATABASE, "orders", epoch="epoch"), other)
    assert len(flow.build().sinks) == 2


def test_a_topic_of_watermarks_is_one_outputs_own() -> None:
    def sink(topic: str) -> fk.KafkaSink:
        return fk.KafkaSink("localhost:9092", topic, marks="ours")

    with pytest.raises(DefinitionError, match="the watermarks in 'ours' at localhost:9092"):
        written(sink("orders"), sink("totals"))


def test_a_sink_of_the_users_says_where_it_writes() -> None:
    with pytest.raises(DefinitionError, match="'second' writes to the ledger, and so does 'first'"):
        written(Placed("the ledger", "a"), Placed("b", "the ledger"))
    assert len(written(Placed("a"), Placed("b")).build().sinks) == 2
