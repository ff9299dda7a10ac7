"""A queue that several consumers share: each row goes to one, until its lease has expired."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.contracts.databases import Outside, outside
from tests.contracts.sources.test_tables import LEASES

from falkirk.connectors import QueueSource
from falkirk.core.errors import ConfigurationError, PermanentError
from falkirk.dataflow import Limit

__all__ = ["outside"]


def queue(outside: Outside, rows: int) -> None:
    """A queue with some rows."""
    outside.execute(f"CREATE TABLE q (id BIGINT PRIMARY KEY {LEASES})")
    for id in range(rows):
        outside.execute(f"INSERT INTO q (id) VALUES ({id})")


def ids(table: Any) -> list[int]:
    """What was read."""
    found: list[int] = table["id"].to_pylist()
    return found


def left(outside: Outside) -> list[int]:
    """What is in the queue."""
    return [row["id"] for row in outside.rows("SELECT id FROM q ORDER BY id")]


def test_no_two_consumers_have_the_same_row(outside: Outside) -> None:
    queue(outside, 60)

    def consume(consumer: str) -> list[int]:
        source, position, found = QueueSource(outside.url, "q", consumer=consumer), [0, 0], []
        while (end := source.latest(position, Limit(rows=4))) != position:
            found += ids(source.read(None, position, end))
            source.commit(end)
            position = end
        source.close()
        return found

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(consume, ["a", "b", "c", "d"]))
    assert sorted(id for each in found for id in each) == list(range(60))
    assert left(outside) == []


def test_what_was_not_acknowledged_is_read_again_lease_by_lease(outside: Outside) -> None:
    queue(outside, 5)
    first = QueueSource(outside.url, "q", rows_per_lease=2)
    one = first.latest([0, 0], Limit())
    two = first.latest(one, Limit(rows=1))
    first.commit(one)
    first.close()
    again = QueueSource(outside.url, "q")
    assert again.latest(one, Limit()) == two == [2, 3]
    assert ids(again.read(None, one, two)) == [2]
    three = again.latest(two, Limit())
    assert ids(again.read(None, one, three)) == [2, 3, 4]
    assert left(outside) == [2, 3, 4]
    again.commit(three)
    assert again.finished(three)
    again.close()
    assert left(outside) == []


def expire(outside: Outside) -> None:
    """All leases are over."""
    outside.execute("UPDATE q SET falkirk_until = 1 WHERE falkirk_until IS NOT NULL")


def test_a_lease_that_expired_is_taken_by_another(outside: Outside) -> None:
    queue(outside, 3)
    gone = QueueSource(outside.url, "q", consumer="gone")
    lease = gone.latest([0, 0], Limit(rows=2))
    other = QueueSource(outside.url, "q", consumer="other")
    first = other.latest([0, 0], Limit(rows=2))
    assert ids(other.read(None, [0, 0], first)) == [2]
    assert other.latest(first, Limit()) == first
    expire(outside)
    second = other.latest(first, Limit())
    assert ids(other.read(None, first, second)) == [0, 1]
    with pytest.raises(PermanentError, match="lease_seconds"):
        gone.read(None, [0, 0], lease)
    gone.commit(lease)
    assert left(outside) == [0, 1, 2], "what another has is not acknowledged by the one who lost it"
    gone.close()
    other.close()


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        """It has just begun."""
        self.now = 0.0

    def monotonic(self) -> float:
        """Seconds since it began."""
        return self.now

    def time(self) -> float:
        """Seconds since 1970."""
        return time.time()


def test_a_lease_is_renewed_while_its_consumer_lives(
    outside: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue(outside, 2)
    clock = Clock()
    monkeypatch.setattr("falkirk.connectors.sql.leasing.time", clock)
    alive = QueueSource(outside.url, "q", consumer="alive", lease_seconds=60)
    other = QueueSource(outside.url, "q", consumer="other")
    lease = alive.latest([0, 0], Limit(rows=2))
    expire(outside)
    clock.now = 20.0
    assert alive.latest(lease, Limit()) == lease
    assert other.latest([0, 0], Limit()) == [0, 0]
    alive.close()
    expire(outside)
    again = QueueSource(outside.url, "q", consumer="alive", lease_seconds=60)
    assert again.latest(lease, Limit()) == lease, "who comes back renews at once"
    assert other.latest([0, 0], Limit()) == [0, 0]
    assert ids(again.read(None, [0, 0], lease)) == [0, 1]
    again.close()
    other.close()


def test_what_is_kept_is_not_given_out_again(outside: Outside) -> None:
    queue(outside, 2)
    source = QueueSource(outside.url, "q", keep=True)
    end = source.latest([0, 0], Limit())
    source.commit(end)
    source.close()
    again = QueueSource(outside.url, "q", consumer="another")
    assert again.latest([0, 0], Limit()) == [0, 0]
    assert again.finished([0, 0])
    again.close()
    assert left(outside) == [0, 1]


def test_a_table_without_room_for_leases_is_told_how_to_make_it(outside: Outside) -> None:
    outside.execute("CREATE TABLE q (id BIGINT PRIMARY KEY)", "INSERT INTO q VALUES (1)")
    source = QueueSource(outside.url, "q")
    with pytest.raises(PermanentError) as refused:
        source.latest([0, 0], Limit())
    statements = str(refused.value).partition("Run: ")[2].split("; ")
    assert len(statements) == 3
    outside.execute(*statements)
    assert source.latest([0, 0], Limit()) == [1, 1]
    assert source.read(None, [0, 0], [1, 1]).column_names == ["id"]
    source.close()


@pytest.mark.parametrize("options", [{"rows_per_lease": 0}, {"lease_seconds": 0}, {"consumer": ""}])
def test_a_queue_that_would_give_nothing_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        QueueSource("sqlite://", "q", **options)
