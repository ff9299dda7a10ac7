"""What only PostgreSQL can do: go away, and be shared by two who start at once."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from tests.contracts.store.places import Place, frontiers, persist, upto
from tests.servers.postgres import Server

from falkirk.core.errors import StoreError
from falkirk.store import open_store

pytestmark = pytest.mark.slow


@pytest.fixture
def database(postgres: Server) -> str:
    return postgres.new_database()


def disconnect_everyone(server: Server) -> None:
    """Ends every session of the stores, as a restart of the server would."""
    with psycopg.connect(server.address("postgres"), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'store_%'"
        )


def test_a_broken_connection_is_made_again(postgres: Server, database: str, tmp_path: Path) -> None:
    place = Place("postgres", f"{database}&data={tmp_path}")
    store = place.started()
    store.transact([persist("b", 0)])
    disconnect_everyone(postgres)
    store.transact([persist("b", 1)])
    assert frontiers(store, "b") == [upto(0), upto(1)]
    place.close()


def test_a_connection_that_breaks_inside_a_transaction(
    postgres: Server, database: str, tmp_path: Path
) -> None:
    store = open_store(f"{database}&data={tmp_path}")
    store.acquire()
    store.database.before_commit = lambda: disconnect_everyone(postgres)
    with pytest.raises(StoreError, match="could not be written"):
        store.transact([persist("b", 0)])
    store.database.before_commit = lambda: None
    assert frontiers(store, "b") == []
    store.transact([persist("b", 0)])
    assert frontiers(store, "b") == [upto(0)]
    store.close()


def test_a_lock_that_is_never_let_go_is_told(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is stopped inside a transaction holds the row of the lease."""
    monkeypatch.setattr("falkirk.store.database.BUSY_SECONDS", 1)
    store = open_store(f"{database}&data={tmp_path}")
    store.acquire()
    with psycopg.connect(database) as stopped:
        stopped.execute("SELECT * FROM lease FOR UPDATE")
        with pytest.raises(StoreError, match="lock timeout"):
            store.transact([])
    store.transact([])
    store.close()


def test_two_may_find_the_same_empty_database(database: str, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        stores = list(pool.map(lambda _: open_store(f"{database}&data={tmp_path}"), range(4)))
    stores[0].acquire()
    for store in stores[1:]:
        with pytest.raises(StoreError, match="in use by process"):
            store.acquire()
    for store in stores:
        store.close()


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="could not be written"):
        open_store(f"postgresql://nobody@/nothing?host={tmp_path}&data={tmp_path / 'data'}")


def test_every_commit_is_forced_to_the_disk(database: str, tmp_path: Path) -> None:
    store = open_store(f"{database}&data={tmp_path}")
    with store.database.reading() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
    store.close()
