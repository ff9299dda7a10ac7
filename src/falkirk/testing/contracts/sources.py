"""The contract of a source: exact ranges, read as often as it takes, until they are acknowledged.

Subclass :class:`SourceContract` in a test module and override its fixtures.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from falkirk.dataflow.connecting import UNLIMITED, Limit, Source

Row = dict[str, Any]
Make = Callable[[], Any]

RANGES_MAX = 1_000
"""A source that has not come to its rest after so many ranges never will."""


class SourceContract:
    """The tests. ``limit`` makes epochs small, and then a range has no more than ``rows_max``.

    ``ends`` says that the source is finished once all of its rows are read. ``secrets`` are texts
    that it was given and must never show. A source that is not replayable, which is read once, is
    excused from all that reads twice.

    An ``ephemeral`` source gives the same rows again as long as its process lives: for it, what is
    restarted here is the same source, rolled back. A test of its own has a new process, which must
    not give an old range any rows.
    """

    limit: Limit = Limit(rows=3)
    rows_max: int | None = 3
    ends: bool = True
    secrets: tuple[str, ...] = ()

    # What a connector gives.

    @pytest.fixture
    def make(self) -> Make:
        """A function that makes a source, each time a new one on the same system."""
        raise NotImplementedError("override the fixture make")

    @pytest.fixture
    def expected(self) -> list[Row]:
        """All rows that are there: enough for at least three ranges under ``limit``."""
        raise NotImplementedError("override the fixture expected")

    @pytest.fixture
    def session(self) -> Any:
        """A Spark session, for sources that read with Spark."""
        return None

    @pytest.fixture
    def more(self) -> Callable[[], list[Row]]:
        """A function that adds rows to the system, where that can be done, and returns them."""
        return list

    @pytest.fixture
    def unreachable(self) -> Any:
        """A source like the others, with ``secrets``, whose system does not answer."""
        return None

    # What the tests use.

    @pytest.fixture
    def source(self, make: Make) -> Iterator[Any]:
        """A source that nobody has read from."""
        with opened(make) as source:
            yield source

    @contextmanager
    def restarted(self, source: Any, make: Make) -> Iterator[Any]:
        """The source after a failure: a new one, or the same if it is ephemeral."""
        if is_ephemeral(source):
            yield source
            return
        with opened(make) as made:
            yield made

    def rows(self, data: Any) -> list[Row]:
        """The rows of what a source gave, a frame or an Arrow table."""
        table = data.toArrow() if hasattr(data, "toArrow") else data
        found: list[Row] = table.to_pylist()
        return found

    def read(self, source: Any, session: Any, start: Any, end: Any) -> Counter[str]:
        """The rows between two positions that went through a store, as a multiset."""
        data = source.read(session, stored(start), stored(end))
        return counted(self.rows(data))

    # The contract.

    def test_is_a_source(self, source: Any) -> None:
        assert isinstance(source, Source)
        assert isinstance(source.replayable, bool)

    def test_positions_survive_the_store(self, source: Any) -> None:
        for position in positions(source, self.limit):
            assert stored(position) == position, "positions are stored as JSON and compared"

    def test_all_rows_come_once_range_after_range(
        self, source: Any, session: Any, expected: list[Row]
    ) -> None:
        found: Counter[str] = Counter()
        for start, end in ranges(source, self.limit):
            found += self.read(source, session, start, end)
        assert found == counted(expected)

    def test_the_limit_is_heeded(self, source: Any, session: Any, expected: list[Row]) -> None:
        sizes = [
            self.read(source, session, start, end).total()
            for start, end in ranges(source, self.limit)
        ]
        assert len(sizes) >= 3, "give more rows, or a smaller limit: nothing is tested by fewer"
        assert all(sizes), "an epoch that is begun has rows"
        if self.rows_max is not None:
            assert max(sizes) <= self.rows_max

    def test_the_same_range_has_the_same_rows(
        self, source: Any, make: Make, session: Any, more: Callable[[], list[Row]]
    ) -> None:
        excuse(source)
        cuts = list(ranges(source, self.limit))
        before = [self.read(source, session, *cut) for cut in cuts]
        more()
        assert [self.read(source, session, *cut) for cut in cuts] == before
        with self.restarted(source, make) as restarted:
            assert [self.read(restarted, session, *cut) for cut in reversed(cuts)] == before[::-1]

    def test_two_ranges_in_a_row_are_one(self, source: Any, make: Make, session: Any) -> None:
        excuse(source)
        cuts = list(ranges(source, self.limit))
        parts: Counter[str] = Counter()
        for cut in cuts:
            parts += self.read(source, session, *cut)
        with self.restarted(source, make) as restarted:
            whole = self.read(restarted, session, cuts[0][0], cuts[-1][1])
        assert whole == parts

    def test_a_restarted_source_goes_on_from_any_position(
        self, source: Any, make: Make, session: Any, expected: list[Row]
    ) -> None:
        excuse(source)
        cuts = list(ranges(source, self.limit))
        before: Counter[str] = Counter()
        for start, end in cuts:
            before += self.read(source, session, start, end)
            after: Counter[str] = Counter()
            with self.restarted(source, make) as restarted:
                for rest in ranges(restarted, self.limit, stored(end)):
                    after += self.read(restarted, session, *rest)
            assert before + after == counted(expected)

    def test_nothing_comes_after_the_end(self, source: Any) -> None:
        if self.ends:
            assert not source.finished(source.initial())
        *_, (_, end) = ranges(source, self.limit)
        assert source.latest(stored(end), UNLIMITED) == end
        assert source.finished(stored(end)) is self.ends

    def test_what_comes_later_comes_after_the_end(
        self, source: Any, make: Make, session: Any, more: Callable[[], list[Row]]
    ) -> None:
        *_, (_, end) = ranges(source, self.limit)
        added = more()
        found: Counter[str] = Counter()
        with self.restarted(source, make) as restarted:
            for cut in ranges(restarted, self.limit, stored(end)):
                found += self.read(restarted, session, *cut)
        assert found == counted(added)

    def test_what_is_acknowledged_may_be_acknowledged_again(
        self, source: Any, make: Make, session: Any
    ) -> None:
        cuts = list(ranges(source, self.limit))
        ends = [end for _, end in cuts]
        data = [self.read(source, session, *cut) for cut in cuts]
        source.commit(stored(ends[0]))
        source.commit(stored(ends[1]))
        source.commit(stored(ends[1]))
        source.commit(stored(ends[0]))
        if source.replayable:
            with self.restarted(source, make) as restarted:
                restarted.commit(stored(ends[1]))
                rest = [self.read(restarted, session, *cut) for cut in cuts[2:]]
            assert rest == data[2:], "what was not acknowledged can still be read"

    def test_everything_can_be_acknowledged(self, source: Any, make: Make, session: Any) -> None:
        end = source.initial()
        for start, end in ranges(source, self.limit):
            self.read(source, session, start, end)
            source.commit(stored(end))
        with self.restarted(source, make) as restarted:
            assert restarted.latest(stored(end), UNLIMITED) == end

    def test_what_an_ephemeral_source_was_given_goes_with_its_process(
        self, source: Any, make: Make, session: Any, more: Callable[[], list[Row]]
    ) -> None:
        if not is_ephemeral(source):
            pytest.skip("what the source has is kept outside of its process")
        old = list(ranges(source, self.limit))
        end = stored(old[-1][1])
        with opened(make) as successor:
            assert successor.latest(end, UNLIMITED) == end
            successor.commit(end)
            added, found = more(), Counter[str]()
            for cut in ranges(successor, self.limit, end):
                found += self.read(successor, session, *cut)
            assert found == counted(added), "what comes now comes after all that there was"
            for cut in old:
                assert not self.read(successor, session, *cut), "no range has two contents"

    def test_sizes_are_numbers_or_unknown(self, source: Any) -> None:
        for start, end in ranges(source, self.limit):
            size = getattr(source, "size", lambda *_: None)(start, end)
            assert size is None or (isinstance(size, int) and size >= 0)

    def test_secrets_are_not_shown(self, source: Any) -> None:
        shown = [repr(source), str(source), *map(json.dumps, positions(source, self.limit))]
        for secret in self.secrets:
            assert not [text for text in shown if secret in text]

    def test_errors_do_not_tell_secrets(self, unreachable: Any) -> None:
        if unreachable is None:
            pytest.skip("there is no source whose system does not answer")
        with pytest.raises(Exception) as failed:  # noqa: PT011
            unreachable.latest(unreachable.initial(), self.limit)
        refuse_secrets(failed.value, self.secrets)


# What the tests are made of.


@contextmanager
def opened(make: Make) -> Iterator[Any]:
    """A connector for as long as a block lasts; one that can be closed is closed."""
    connector = make()
    try:
        yield connector
    finally:
        getattr(connector, "close", lambda: None)()


def excuse(source: Any) -> None:
    """Leaves out a test for a source that is read once."""
    if not source.replayable:
        pytest.skip("the source is read once: what it gave is logged before it counts")


def is_ephemeral(source: Any) -> bool:
    """Whether what it was given, and had not acknowledged, is lost with its process."""
    return bool(getattr(source, "ephemeral", False))


def stored(position: Any) -> Any:
    """A position as it comes back from a store."""
    return json.loads(json.dumps(position))


def counted(rows: list[Row]) -> Counter[str]:
    """Rows as a multiset."""
    return Counter(repr(sorted((k, in_utc(v)) for k, v in row.items())) for row in rows)


def in_utc(value: Any) -> Any:
    """A moment is the same in any time zone, and whatever its zone is called."""
    zoned = isinstance(value, datetime) and value.tzinfo is not None
    return value.astimezone(UTC) if zoned else value


def ranges(source: Any, limit: Limit, start: Any = None) -> Iterator[tuple[Any, Any]]:
    """The ranges of all epochs from ``start`` on."""
    position = source.initial() if start is None else start
    for _ in range(RANGES_MAX):
        end = source.latest(position, limit)
        if end == position:
            return
        yield position, end
        position = stored(end)
    raise AssertionError(f"there is always more after {RANGES_MAX} ranges")


def positions(source: Any, limit: Limit) -> list[Any]:
    """Every position that the source comes to."""
    return [source.initial(), *(end for _, end in ranges(source, limit))]


def refuse_secrets(error: BaseException, secrets: tuple[str, ...]) -> None:
    """An error tells no secrets, nor does any that it came from."""
    seen: BaseException | None = error
    while seen is not None:
        for secret in secrets:
            assert secret not in str(seen)
            assert secret not in repr(seen)
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
