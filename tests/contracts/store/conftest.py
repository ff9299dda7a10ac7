"""The stores that the suite is run against."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.contracts.store.places import Place
from tests.servers.postgres import Server


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
