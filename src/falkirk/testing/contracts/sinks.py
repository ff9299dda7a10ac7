"""The contract of a sink: each time whole or not at all, and twice is once.

Subclass :class:`SinkContract` in a test module and override its fixtures.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from falkirk.core.domain import EPOCH
from falkirk.core.errors import PermanentError
from falkirk.dataflow.connecting import Sink
from falkirk.testing.contracts.batches import Broken, Rows, Torn
from falkirk.testing.contracts.sources import Make, Row, counted, opened, refuse_secrets

NAME, STORE = "out", "the store"
Some = Callable[..., Rows]


class SinkContract:
    """The tests. ``secrets`` are texts that the sink was given and must never show.

    A sink that is not ``exactly_once`` is excused from recognising what it was given before; one
    without ``attach`` from telling one store's output from another's, and one without ``undo`` from
    taking anything back.
    """

    secrets: tuple[str, ...] = ()

    # What a connector gives.

    @pytest.fixture
    def make(self) -> Make:
        """A function that makes a sink, each time a new one on the same system."""
        raise NotImplementedError("override the fixture make")

    @pytest.fixture
    def shown(self) -> Callable[[], list[Row]]:
        """A function that reads what the outside sees, with the columns that were written."""
        raise NotImplementedError("override the fixture shown")

    @pytest.fixture
    def types(self) -> Any:
        """A table with every type of column that the sink takes; leave out what it refuses."""
        return all_types()

    @pytest.fixture
    def session(self) -> Any:
        """A Spark session: for sinks that write frames, and for rows too many for the driver."""
        return None

    @pytest.fixture
    def unreachable(self) -> Any:
        """A sink like the others, with ``secrets``, whose system does not answer."""
        return None

    # What the tests use.

    @pytest.fixture
    def sink(self, make: Make) -> Iterator[Any]:
        """A sink that nobody has written to."""
        with opened(make) as sink:
            attach(sink)
            yield sink

    @pytest.fixture
    def some(self, session: Any) -> Some:
        """Makes a batch of rows."""
        return lambda *values: Rows(table_of(*values), session)

    @pytest.fixture
    def torn(self, session: Any) -> Some:
        """Makes a batch that breaks off half-way."""
        return lambda *values: Torn(table_of(*values), session)

    # The contract.

    def test_is_a_sink(self, sink: Any) -> None:
        assert isinstance(sink, Sink)
        assert isinstance(sink.exactly_once, bool)

    def test_what_is_written_is_shown(
        self, sink: Any, shown: Callable[[], list[Row]], some: Some
    ) -> None:
        sink.write(NAME, (0,), some(0, 1))
        sink.write(NAME, (1,), some(2))
        assert counted(shown()) == counted(rows_of(0, 1, 2))

    def test_times_may_be_missing(
        self, sink: Any, shown: Callable[[], list[Row]], some: Some
    ) -> None:
        sink.write(NAME, (3,), some(0))
        sink.write(NAME, (70,), some(1))
        assert counted(shown()) == counted(rows_of(0, 1))

    def test_a_time_without_rows(
        self, sink: Any, shown: Callable[[], list[Row]], some: Some
    ) -> None:
        sink.write(NAME, (0,), some())
        sink.write(NAME, (1,), some(1))
        sink.write(NAME, (2,), some())
        assert counted(shown()) == counted(rows_of(1))

    def test_every_type_of_column(
        self, sink: Any, session: Any, shown: Callable[[], list[Row]], types: Any
    ) -> None:
        sink.write(NAME, (0,), Rows(types, session))
        assert counted(shown()) == counted(types.to_pylist())

    def test_a_time_that_broke_off_left_nothing(
        self, sink: Any, shown: Callable[[], list[Row]], some: Some, torn: Some
    ) -> None:
        sink.write(NAME, (0,), some(0))
        with pytest.raises(Broken):
            sink.write(NAME, (1,), torn(1, 2, 3, 4))
        assert counted(shown()) == counted(rows_of(0))
        sink.write(NAME, (1,), some(1, 2, 3, 4))
        assert counted(shown()) == counted(rows_of(0, 1, 2, 3, 4))

    def test_after_a_restart_a_time_that_broke_off_is_written(
        self, sink: Any, make: Make, shown: Callable[[], list[Row]], some: Some, torn: Some
    ) -> None:
        with pytest.raises(Broken):
            sink.write(NAME, (0,), torn(1, 2, 3, 4))
        with opened(make) as restarted:
            attach(restarted)
            restarted.write(NAME, (0,), some(1, 2, 3, 4))
        assert counted(shown()) == counted(rows_of(1, 2, 3, 4))

    def test_a_time_that_is_written_again_changes_nothing(
        self, sink: Any, shown: Callable[[], list[Row]], some: Some
    ) -> None:
        excuse(sink)
        sink.write(NAME, (0,), some(0))
        sink.write(NAME, (0,), some(0))
        sink.write(NAME, (1,), some())
        sink.write(NAME, (1,), some())
        assert counted(shown()) == counted(rows_of(0))

    def test_after_a_restart_times_that_were_written_are_recognised(
        self, sink: Any, make: Make, shown: Callable[[], list[Row]], some: Some
    ) -> None:
        excuse(sink)
        for time in range(3):
            sink.write(NAME, (time,), some(time))
        with opened(make) as restarted:
            attach(restarted)
            for time in range(1, 5):
                restarted.write(NAME, (time,), some(time))
        assert counted(shown()) == counted(rows_of(0, 1, 2, 3, 4))

    def test_two_outputs_never_swallow_each_other(
        self, sink: Any, make: Make, shown: Callable[[], list[Row]], some: Some
    ) -> None:
        sink.write(NAME, (0,), some(0))
        with opened(make) as other:
            try:
                attach(other, "another")
                other.write("another", (0,), some(1))
            except PermanentError:
                assert counted(shown()) == counted(rows_of(0))
            else:
                assert counted(shown()) == counted(rows_of(0, 1))

    def test_the_output_of_another_store_is_not_taken_for_ones_own(
        self, sink: Any, make: Make, shown: Callable[[], list[Row]], some: Some
    ) -> None:
        if not hasattr(sink, "attach"):
            pytest.skip("the sink is not told which store it belongs to")
        excuse(sink)
        sink.write(NAME, (0,), some(0))
        with opened(make) as other, pytest.raises(PermanentError):
            attach(other, store="another store")
        assert counted(shown()) == counted(rows_of(0))
        sink.write(NAME, (1,), some(1))
        assert counted(shown()) == counted(rows_of(0, 1))

    def test_a_store_that_wrote_nothing_is_in_nobodys_way(
        self, sink: Any, make: Make, shown: Callable[[], list[Row]], some: Some
    ) -> None:
        with opened(make) as other:
            attach(other, store="another store")
            other.write(NAME, (0,), some(0))
        assert counted(shown()) == counted(rows_of(0))

    def test_times_that_are_taken_back_are_gone_and_may_come_again(
        self, sink: Any, make: Make, shown: Callable[[], list[Row]], some: Some
    ) -> None:
        if getattr(sink, "undo", None) is None:
            pytest.skip("the sink takes nothing back")
        for time in range(4):
            sink.write(NAME, (time,), some(time))
        for _ in range(2):
            sink.undo(NAME, EPOCH.frontier([(1,)]))
        assert counted(shown()) == counted(rows_of(0, 1))
        sink.write(NAME, (1,), some(1))
        sink.write(NAME, (2,), some(7))
        assert counted(shown()) == counted(rows_of(0, 1, 7))
        with opened(make) as restarted:
            attach(restarted)
            restarted.undo(NAME, EPOCH.empty)
        assert counted(shown()) == counted([])

    def test_rows_that_are_too_many_for_the_driver(
        self, sink: Any, session: Any, shown: Callable[[], list[Row]]
    ) -> None:
        if session is None:
            pytest.skip("there is no Spark session")
        large = Rows(table_of(*range(1_000)), session, small=False)
        sink.write(NAME, (0,), large)
        assert counted(shown()) == counted(rows_of(*range(1_000)))

    def test_secrets_are_not_shown(self, sink: Any) -> None:
        for secret in self.secrets:
            assert secret not in repr(sink)
            assert secret not in str(sink)

    def test_errors_do_not_tell_secrets(self, unreachable: Any) -> None:
        if unreachable is None:
            pytest.skip("there is no sink whose system does not answer")
        with pytest.raises(Exception) as failed:  # noqa: PT011
            attach_and_write(unreachable)
        refuse_secrets(failed.value, self.secrets)


# What the tests are made of.


def attach(sink: Any, name: str = NAME, store: str = STORE) -> None:
    """Tells a sink whose output it takes, if it wants to know."""
    getattr(sink, "attach", lambda *_: None)(name, store)


def attach_and_write(sink: Any) -> None:
    """The first that a flow does with a sink."""
    attach(sink)
    sink.write(NAME, (0,), some(0))


def excuse(sink: Any) -> None:
    """Leaves out a test for a sink that is at least once."""
    if not sink.exactly_once:
        pytest.skip("the sink is at least once, and says so")


def rows_of(*values: int) -> list[Row]:
    """Rows with a number and a text."""
    return [{"k": value, "v": f"row {value}"} for value in values]


def table_of(*values: int) -> Any:
    """The same as an Arrow table."""
    schema = pa.schema([("k", pa.int64()), ("v", pa.string())])
    return pa.Table.from_pylist(rows_of(*values), schema)


def some(*values: int) -> Rows:
    """The same as a batch."""
    return Rows(table_of(*values))


def all_types() -> Any:
    """A table with two rows of each type that Spark's rows commonly have, and one of nulls."""
    moment = datetime(2024, 2, 29, 23, 59, 59, 123456)
    columns: dict[str, tuple[Any, Any, Any]] = {
        "k": (pa.int64(), 2**62, -1),
        "a_bool": (pa.bool_(), True, False),
        "a_byte": (pa.int8(), -128, 127),
        "a_short": (pa.int16(), -(2**15), 2**15 - 1),
        "an_int": (pa.int32(), -(2**31), 2**31 - 1),
        "a_float": (pa.float32(), 0.5, -1.25),
        "a_double": (pa.float64(), 0.1, -1e300),
        "a_text": (pa.string(), "", 'tab\t, "quote", back\\slash, \nline, ünï → 𝄞 NULL \\N'),
        "a_binary": (pa.binary(), b"", bytes(range(256))),
        "a_date": (pa.date32(), date(1, 1, 1), date(9999, 12, 31)),
        "a_moment": (pa.timestamp("us", "UTC"), moment.replace(tzinfo=UTC), EPOCH_BEGAN),
        "a_local_moment": (pa.timestamp("us"), moment, datetime(1582, 10, 15)),
        "a_decimal": (pa.decimal128(38, 18), Decimal("1.000000000000000001"), LONG_DECIMAL),
    }
    schema = pa.schema([(name, kind) for name, (kind, _, _) in columns.items()])
    rows = [{name: values[i] for name, values in columns.items()} for i in (1, 2)]
    rows.append({"k": 0})
    return pa.Table.from_pylist(rows, schema)


EPOCH_BEGAN = datetime(1970, 1, 1, tzinfo=UTC)
LONG_DECIMAL = Decimal("-12345678901234567890.123456789012345678")
