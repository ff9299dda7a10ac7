"""A store with its batches on HDFS: the driver goes there by HTTP, and Spark by Hadoop's client.

The contracts about files are those of ``tests/contracts/store``. They are here, and not one more
kind of store there, so that one HDFS does for all of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.contracts.store import test_batches as batches
from tests.contracts.store import test_damage as damage
from tests.contracts.store import test_failures as failures
from tests.contracts.store.places import Place
from tests.faults.driver_strikes import Strike
from tests.faults.far import FarCampaign
from tests.servers.hdfs import Hdfs
from tests.spark.test_running import FORMS, WORDS, counting, running_counts

import falkirk as fk
from falkirk.core.errors import StoreOutageError
from falkirk.inspection.health import FAIL, OK, store_health
from falkirk.runtime.run import run
from falkirk.store import Store, open_store
from falkirk.testing.script import Remembered

pytestmark = [pytest.mark.spark, pytest.mark.slow]

for suite in (batches, damage, failures):
    for name, each in vars(suite).items():
        if name.startswith("test_") and {"place", "lasting"} & {*signature(each).parameters}:
            globals()[name] = each


@dataclass
class FarPlace(Place):
    """A store with its batches on HDFS."""

    def date(self, store: Store, name: str, seconds: float) -> None:
        """Makes a file look as if it had been written at this time."""
        place: Any = store.files.place
        path, moment = f"{place.root}/{name}", int(seconds * 1000)
        servers = place.filesystem.handler.fs
        servers._call("SETTIMES", method="put", path=path, modificationtime=moment)


@pytest.fixture
def place(hdfs: Hdfs, tmp_path: Path) -> Iterator[Place]:
    """A place for a store."""
    found = FarPlace("hdfs", f"sqlite:///{tmp_path}/store?{hdfs.new_folder()}")
    yield found
    found.close()


@pytest.fixture
def lasting(place: Place) -> Place:
    """It is still there when it is opened again."""
    return place


def test_spark_writes_and_goes_on(spark: SparkSession, place: Place) -> None:
    """Spark itself writes the state, as folders; the second run reads it and goes on."""
    first, second = Remembered(), Remembered()
    policy = fk.lazy(every=2)
    run(counting(first, policy, WORDS[:3]), place.address, spark, options=FORMS["cached"])
    store = open_store(place.address)
    kinds = {reference.kind for reference in store.references()}
    paths = {store.files.path(reference) for reference in store.references()}
    assert "folder" in kinds
    assert all(path.startswith("hdfs://127.0.0.1:") for path in paths)
    store.close()
    run(counting(second, policy), place.address, spark, options=FORMS["cached"])
    assert {**first.times, **second.times} == running_counts(WORDS)
    assert not set(first.times) & set(second.times)


@pytest.mark.faults
def test_a_killed_driver(place: Place, tmp_path: Path) -> None:
    """It dies when Spark has written a folder that no row names yet."""
    campaign = FarCampaign(tmp_path / "campaign", "running")
    campaign.store = place.address
    assert campaign.strike(Strike("folder written", 5, cached=True)), campaign.transcript
    store = place.open()
    orphans = set(store.files.names()) - {reference.name for reference in store.references()}
    assert any(store.files.place.is_folder(name) for name in orphans)
    assert campaign.finish() == [], "\n".join(campaign.transcript)
    assert not orphans & set(store.files.names())
    store.acquire()
    assert set(store.files.names()) == {reference.name for reference in store.references()}


def test_doctor_looks_at_it(place: Place, spark: SparkSession) -> None:
    run(counting(Remembered(), fk.lazy(), WORDS[:1]), place.address, spark)
    found = {each.what: each for each in store_health(place.address, True, lambda *_: None)}
    assert {each.state for each in found.values()} == {OK}
    assert "webhdfs://127.0.0.1" in found["store space"].words


def test_servers_that_are_down_are_an_outage_and_no_damage(tmp_path: Path, hdfs: Hdfs) -> None:
    """What cannot be read is not lost: nobody falls back to an older checkpoint for it."""
    folder = hdfs.new_folder()
    address = f"sqlite:///{tmp_path}/store?{folder}"
    store = open_store(address)
    store.acquire()
    reference = store.files.write(batches.TABLE)
    closed = folder.replace(f":{hdfs.http}/", ":1/")
    away = open_store(address, make=False)
    place: Any = away.files.place
    place.filesystem.handler.fs.url = "http://127.0.0.1:1/webhdfs/v1"
    for ask in (away.files.read, away.files.problem):
        with pytest.raises(StoreOutageError, match="cannot reach webhdfs://"):
            ask(reference)
    with pytest.raises(StoreOutageError, match="cannot write webhdfs://"):
        away.files.write(batches.TABLE)
    with pytest.raises(StoreOutageError, match=r"cannot reach webhdfs://127.0.0.1:1/"):
        open_store(f"sqlite:///{tmp_path}/other?{closed}")
    (found,) = [
        each
        for each in store_health(f"sqlite:///{tmp_path}/none?{closed}", False, print)
        if each.state == FAIL
    ]
    assert "takes no file" in found.words
    away.close()
    store.close()
