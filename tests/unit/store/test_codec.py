"""Everything that is stored as JSON comes back as it was."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.domain import Sequence, Structured
from falkirk.core.errors import StoreError
from falkirk.core.frontier import ProductFrontier, SequenceFrontier, TotalFrontier
from falkirk.core.machine.ledger import Base, Past, Record, Sent
from falkirk.core.machine.message import Message
from falkirk.core.order import Order
from falkirk.core.times import INF, SequenceNumber
from falkirk.store.codec import (
    checkpoint_from_json,
    checkpoint_to_json,
    frontier_from_key,
    frontier_key,
    parsed,
    text,
    time_from_key,
    time_key,
)
from falkirk.store.contents import (
    References,
    base_from_json,
    base_to_json,
    message_from_json,
    message_to_json,
    record_from_json,
    record_to_json,
)
from falkirk.store.reference import Reference

numbers = st.integers(0, 2**62)
edges = st.text(min_size=1, max_size=6)
counters = st.lists(numbers, min_size=1, max_size=4)
times = st.one_of(counters.map(tuple), st.builds(SequenceNumber, edges, st.integers(1, 2**62)))
coordinates = st.one_of(numbers, st.just(INF))


def structured(depth: int) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.tuples(*[coordinates] * depth)


totals = st.one_of(
    st.just(TotalFrontier()), st.integers(1, 3).flatmap(structured).map(TotalFrontier)
)
products = st.integers(1, 3).flatmap(
    lambda depth: st.lists(structured(depth), max_size=4).map(ProductFrontier)
)
sequences = st.builds(
    SequenceFrontier, st.dictionaries(edges, coordinates, max_size=4), st.sampled_from([0, INF])
)
frontiers = st.one_of(totals, products, sequences)
by_edge = st.dictionaries(edges, frontiers, max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
sents = st.builds(Sent, numbers, edges, times)
pasts = st.builds(Past, numbers, st.none() | edges, values, st.lists(sents, max_size=3).map(tuple))
messages = st.builds(Message, numbers, edges, times, times, values)
some_times = st.sets(counters.map(tuple), max_size=3)
records = st.builds(
    Record,
    times,
    st.lists(pasts, max_size=3),
    st.sets(edges, max_size=3),
    st.booleans(),
    st.lists(values, max_size=3),
    st.just([]),
    st.dictionaries(edges, some_times, max_size=3),
    some_times,
    st.dictionaries(edges, numbers, max_size=3),
    st.dictionaries(edges, numbers, max_size=3),
    st.booleans(),
)
bases = st.builds(
    Base,
    frontiers,
    by_edge,
    frontiers,
    by_edge,
    st.lists(st.tuples(times, values), max_size=3),
    some_times,
    st.dictionaries(edges, numbers, max_size=3),
)


def plain(value: Any) -> Any:
    """A batch that is a plain value."""
    return value["json"]


def through(value: Any) -> Any:
    """What the database gives back."""
    return json.loads(text(value))


@given(times)
def test_a_time_comes_back(time: Any) -> None:
    found = time_from_key(time_key(time))
    assert found == time
    assert type(found) is type(time)


@given(frontiers)
def test_a_frontier_comes_back(frontier: Any) -> None:
    found = frontier_from_key(frontier_key(frontier))
    assert found == frontier
    assert type(found) is type(frontier)
    assert (found.is_empty, found.is_top) == (frontier.is_empty, frontier.is_top)


@given(frontiers, frontiers)
def test_equal_frontiers_have_equal_keys(left: Any, right: Any) -> None:
    same = type(left) is type(right) and left == right
    assert (frontier_key(left) == frontier_key(right)) == same


@pytest.mark.parametrize(
    "domain", [Structured(1), Structured(3), Structured(2, Order.PRODUCT), Sequence()], ids=repr
)
def test_nothing_and_everything_come_back(domain: Any) -> None:
    for frontier in (domain.empty, domain.top, domain.edge_empty, domain.edge_top):
        assert frontier_from_key(frontier_key(frontier)) == frontier


@given(st.builds(Checkpoint, frontiers, st.none() | frontiers, by_edge, by_edge, by_edge))
def test_a_checkpoint_comes_back(checkpoint: Checkpoint) -> None:
    assert checkpoint_from_json(through(checkpoint_to_json(checkpoint))) == checkpoint


@given(records)
def test_a_record_comes_back(record: Record) -> None:
    value = through(record_to_json(record, {}))
    assert record_from_json(record.time, value, [], plain) == record


@given(messages)
def test_a_message_comes_back(message: Message) -> None:
    value = through(message_to_json(message, {}))
    found = message_from_json(message.number, message.edge, message.time, value, plain)
    assert found == message


@given(bases)
def test_a_base_comes_back(base: Base) -> None:
    assert base_from_json(through(base_to_json(base, {})), plain) == base


class Batch:
    """A durable batch."""

    reference = Reference("n1", "file", 1, 2, "sum")
    label = "left"


def test_durable_batches_are_stored_by_name() -> None:
    found: References = {}
    value = record_to_json(Record((1,), state=[Batch(), 3]), found)
    assert value["state"] == [{"name": "n1", "label": "left"}, {"json": 3}]
    assert found == {"n1": Batch.reference}


def test_what_is_no_frontier_is_refused() -> None:
    with pytest.raises(StoreError, match="not a frontier"):
        frontier_key((1, 2))
    with pytest.raises(StoreError, match="damaged or of another version"):
        frontier_from_key('{"square":1}')


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(StoreError, match="needs a reference"):
        text({1, 2})
    with pytest.raises(StoreError, match="a row of the store is damaged"):
        parsed("{")
