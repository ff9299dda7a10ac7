"""What a run says at the end: a start after a proper stop has recovered nothing."""

from pathlib import Path
from types import SimpleNamespace

from tests.unit.cli.stories import Story, shop

from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import RolledBack
from falkirk.runtime.report import Report
from falkirk.runtime.run import kept_all
from falkirk.store import open_store

RESTART = RolledBack(frozenset(), {}, {})


def test_a_calm_start_is_not_counted() -> None:
    assert Report().summary() == ["done: 0 recoveries"]
    assert Report([RESTART], calm=True).summary() == ["done: 0 recoveries"]
    assert Report([RESTART]).summary() == ["done: 1 recovery"]
    assert Report([RESTART, RESTART], calm=True).summary() == ["done: 1 recovery"]


def calm(folder: Path, epochs: int) -> bool:
    """Whether a machine that starts on so many epochs of a shop keeps all that was saved."""
    story = Story(shop(), folder)
    story.epochs(epochs).stop()
    store = open_store(str(folder))
    blueprint = shop().build()
    stored = store.load(blueprint.flow, lambda reference, label: SimpleNamespace())
    store.close()
    return kept_all(stored, Machine(blueprint.flow, stored))


def test_it_is_calm_if_nobody_goes_behind_its_last_checkpoint(tmp_path: Path) -> None:
    assert calm(tmp_path / "even", 5), "totals save every fifth epoch, and so all agree"
    assert not calm(tmp_path / "odd", 8), "three epochs of the others are not in the totals"


def test_a_lease_knows_whether_the_one_before_was_released(tmp_path: Path) -> None:
    first = open_store(str(tmp_path))
    lease = first.acquire()
    assert not lease.took_over
    lease.release()
    first.close()
    second = open_store(str(tmp_path))
    held = second.acquire()
    assert not held.took_over
    held._stop.set()  # as if it had been killed: it says nothing more, and its time runs out
    held._heart.join()
    with second.database.writing() as connection:
        connection.exec_driver_sql("UPDATE lease SET expires = 1")
    third = open_store(str(tmp_path))
    assert third.acquire().took_over
    third.close()
    second.close()
