"""A store with its batches in a bucket: the driver goes there by Arrow, and Spark by ``s3a``.

The server is SeaweedFS on loopback, which is a real object store, though not Amazon's. Settings are
those that the documentation gives, and no others. The contracts about files are those of
``tests/contracts/store``. They are here, and not one more kind of store there, so that one server
does for all of it.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.store import test_batches as batches
from tests.contracts.store import test_damage as damage
from tests.contracts.store import test_failures as failures
from tests.contracts.store.places import Place
from tests.faults.driver_strikes import Strike
from tests.faults.far import FarCampaign
from tests.servers.lacking import lacking
from tests.servers.s3 import S3, NoS3

from falkirk.store import Store

pytestmark = [pytest.mark.spark, pytest.mark.slow]

DATED = "test_who_lost_the_lease_does_not_delete_what_the_next_one_writes"
"""It dates files, which S3 does by itself alone."""

for suite in (batches, damage, failures):
    for name, each in vars(suite).items():
        if name.startswith("test_") and {"place", "lasting"} & {*signature(each).parameters}:
            globals()[name] = each
del globals()[DATED]


@pytest.fixture(scope="module")
def s3() -> Iterator[S3]:
    """An S3 server; where there can be none its tests are skipped, but never in CI."""
    try:
        server = S3()
    except NoS3 as error:
        lacking("an S3 server", error)
    with pytest.MonkeyPatch.context() as environment:
        for name, value in server.environment().items():
            environment.setenv(name, value)
        yield server
    server.remove()


@dataclass
class Bucket(Place):
    """A store with its batches in a bucket."""

    def again(self) -> Store:
        """S3 dates files by the second: who comes within the same one cannot tell what is older."""
        self.close()
        wait_for_the_next_second()
        return self.started()


def wait_for_the_next_second() -> None:
    """The server has our clock."""
    time.sleep(1 - time.time() % 1)


@pytest.fixture
def place(s3: S3, tmp_path: Path) -> Iterator[Place]:
    """A place for a store."""
    found = Bucket("s3", f"sqlite:///{tmp_path}/store?{s3.new_folder()}")
    yield found
    found.close()


@pytest.fixture
def lasting(place: Place) -> Place:
    """It is still there when it is opened again."""
    return place


def test_a_folder_that_spark_had_only_begun_is_collected(place: Place) -> None:
    """A job that died before its first file leaves a marker, which has no time.

    Whoever finds it cannot know how old it is, and dates it; the next one deletes it.
    """
    far: Any = place.started().files.place
    far.filesystem.create_dir(f"{far.root}/dead/_temporary/0")
    found = place.again().files
    assert found.names() == ["dead"]
    assert found.place.parts("dead") == []
    assert place.again().files.names() == []


def test_a_bucket_without_a_file_is_an_empty_place(place: Place) -> None:
    """Nothing is there that could be listed, and what rows name is missing: no folder is needed."""
    store = place.started()
    reference = store.files.write(batches.TABLE)
    far: Any = store.files.place
    far.filesystem.delete_dir(far.root)
    assert (store.files.names(), store.files.sizes()) == ([], {})
    assert store.files.problem(reference) == "it is missing"


class BucketCampaign(FarCampaign):
    """Kills on a store in a bucket."""

    server: S3

    def environment(self) -> dict[str, str]:
        """Spark finds its way there, too; keys are in the environment alone."""
        given = [f"--conf {name}={value}" for name, value in self.server.settings().items()]
        arguments = " ".join([*given, "pyspark-shell"])
        return {**super().environment(), "PYSPARK_SUBMIT_ARGS": arguments}


@pytest.mark.faults
def test_a_killed_driver(place: Place, s3: S3, tmp_path: Path) -> None:
    """It dies when Spark has written a folder that no row names yet; the next one goes on."""
    campaign = BucketCampaign(tmp_path / "campaign", "running")
    campaign.store, campaign.server = place.address, s3
    assert campaign.strike(Strike("folder written", 5, cached=True)), campaign.transcript
    store = place.open()
    kept = {reference.name for reference in store.references() if reference.kind == "folder"}
    named = {each.name for each in store.references()}
    orphans = {name for name, size in store.files.sizes().items() if size and name not in named}
    assert kept, "the next driver must read what Spark has written"
    assert any(store.files.place.is_folder(name) for name in orphans)
    wait_for_the_next_second()
    assert campaign.finish() == [], "\n".join(campaign.transcript)
    assert not orphans & set(store.files.names())
    wait_for_the_next_second()
    store.acquire()  # folders without files have a date only since the last one saw them
    assert store.files.sizes() == {each.name: each.size for each in store.references()}
    assert not any(store.files.problem(each, verify=True) for each in store.references())
