"""The stores that the suite is run against."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts.store.places import Place
from tests.contracts.store.server import NoServer, Server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server; where there is none its tests are skipped, but never in CI."""
    try:
        server = Server()
    except NoServer as error:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(f"CI must test PostgreSQL: {error}")
        pytest.skip(f"no PostgreSQL server can be started here: {error}")
    yield server
    server.stop()


def make_place(kind: str, folder: Path, request: pytest.FixtureRequest) -> Place:
    if kind == "memory":
        return Place(kind, "memory:")
    if kind == "postgres":
        server: Server = request.getfixturevalue("postgres")
        return Place(kind, f"{server.new_database()}&data={folder / 'data'}")
    return Place(kind, str(folder / "store"))


SLOW = [pytest.param(kind, marks=pytest.mark.slow) for kind in ("postgres", "faulty")]
"""Left out by ``make check``: one needs a server, the other repeats what SQLite does."""


@pytest.fixture(params=["memory", "sqlite", *SLOW])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Every place where a store can be."""
    place = make_place(request.param, tmp_path, request)
    yield place
    place.close()


@pytest.fixture(params=["sqlite", *SLOW])
def lasting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Every place where a store is still there when it is opened again."""
    place = make_place(request.param, tmp_path, request)
    yield place
    place.close()
