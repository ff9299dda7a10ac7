"""A copy of a flow remembers nothing of what its operators did; what cannot be copied is named."""

import copyreg
from collections.abc import Callable
from pathlib import Path
from threading import Lock, RLock
from typing import Any

import pytest

import falkirk as fk
from falkirk import lindi
from falkirk.connectors import Numbers
from falkirk.testing.copying import afresh
from falkirk.testing.making import Making
from falkirk.testing.script import Remembered


class Holding(fk.Processor):
    """Counts in itself, and holds something else besides."""

    def __init__(self, held: Any) -> None:
        self.held, self.seen = held, []

    def on_message(self, ctx: fk.Context, port: int, time: tuple, batch: fk.Batch) -> None:
        self.seen.append(time)


def flow_of(*operators: fk.Processor) -> fk.Dataflow:
    flow = fk.Dataflow("holding")
    stream = flow.read(Numbers(rows=1), name="rows")
    for number, operator in enumerate(operators):
        stream = stream.process(operator, name=f"p{number}")
    stream.write(Remembered(), name="out")
    return flow


def copied(*operators: fk.Processor) -> list[Any]:
    made = afresh(flow_of(*operators).build())
    return [made.nodes[f"p{number}"].operator for number in range(len(operators))]


@pytest.mark.parametrize("make", [Lock, RLock])
def test_the_copy_of_a_lock_is_a_free_one_and_the_rest_is_copied(make: Callable[[], Any]) -> None:
    lock = make()
    [copy] = copied(original := Holding(lock))
    original.seen.append((0,))
    lock.acquire()
    assert copy.seen == [], "what it does from now on is not known to the copy"
    assert copy.held is not lock
    assert copy.held.acquire(blocking=False)


def test_what_two_operators_share_their_copies_share_too() -> None:
    shared: list[int] = []
    first, second = copied(Holding(shared), Holding(shared))
    assert first.held is second.held
    assert first.held is not shared


def test_our_own_operators_that_hold_locks_can_be_copied() -> None:
    flow = fk.Dataflow("lookup")
    rows = lindi.rows(flow.read(Numbers(rows=1), name="rows"))
    rows.join_table(lambda session: session.range(3), on=["id"], name="found").stream.write(
        Remembered(), name="out"
    )
    original = flow.build()
    assert afresh(original).nodes["found"].operator is not original.nodes["found"].operator


def test_what_cannot_be_copied_is_named_with_what_to_do(tmp_path: Path) -> None:
    with (tmp_path / "notes").open("w") as file, pytest.raises(fk.FalkirkError) as caught:
        copied(Holding(None), Holding(file))
    told = str(caught.value)
    assert "test_copying.py:" in told, "the user's line"
    assert "'p1' cannot be copied" in told
    assert "Holding.held is a _io.TextIOWrapper" in told
    assert "crash_test(lambda folder: make_flow())" in told


def test_only_copies_of_flows_copy_what_cannot_be_copied(tmp_path: Path) -> None:
    before = dict(copyreg.dispatch_table)
    copied(Holding(Lock()))
    with (tmp_path / "notes").open("w") as file, pytest.raises(fk.FalkirkError):
        copied(Holding(file))
    assert copyreg.dispatch_table == before


def test_a_function_makes_everything_anew_in_its_folder(tmp_path: Path) -> None:
    folders = []

    def make(folder: Path) -> fk.Dataflow:
        assert folder.is_dir()
        folders.append(folder)
        return flow_of(Holding(open))  # a function: nothing of it has to be copied

    making = Making(make)
    first, second = making(tmp_path / "a"), making(tmp_path / "a")
    assert first.nodes["p0"].operator is not second.nodes["p0"].operator
    assert folders == [tmp_path / "a"] * 2


def test_what_is_no_flow_is_refused(tmp_path: Path) -> None:
    with pytest.raises(fk.FalkirkError, match="takes a flow, or a function of a folder"):
        Making("app.py")  # type: ignore[arg-type]
    with pytest.raises(fk.FalkirkError, match="makes a flow, but it returned None"):
        Making(lambda folder: None)(tmp_path)  # type: ignore[arg-type, return-value]
