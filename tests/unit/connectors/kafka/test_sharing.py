"""An epoch's offsets are shared among partitions, whatever there is of each."""

from hypothesis import given
from hypothesis import strategies as st

from falkirk.connectors.kafka.offsets import Span, count, flat, nested, shared, spans

SIZES = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 200)), min_size=1, max_size=8)


def made(sizes: list[tuple[int, int]]) -> list[Span]:
    """A span for each start and size."""
    return [Span("t", p, start, start + size) for p, (start, size) in enumerate(sizes)]


@given(SIZES, st.integers(1, 400))
def test_all_is_given_and_nobody_gets_much_more_than_another(
    sizes: list[tuple[int, int]], most: int
) -> None:
    found = made(sizes)
    given_ = {span.partition: span.end - span.start for span in shared(found, most)}
    assert sum(given_.values()) == min(most, count(found))
    full = {p for p, (_, size) in enumerate(sizes) if given_.get(p, 0) == size}
    hungry = [given_.get(p, 0) for p in range(len(sizes)) if p not in full]
    if hungry:
        assert max(hungry) - min(hungry) <= 1
        assert all(given_[p] <= min(hungry) + 1 for p in full)


@given(SIZES, st.integers(1, 5))
def test_nobody_waits_for_ever(sizes: list[tuple[int, int]], most: int) -> None:
    left, rounds = made(sizes), 0
    while left:
        taken = {span.partition: span.end for span in shared(left, most)}
        moved = [span._replace(start=taken.get(span.partition, span.start)) for span in left]
        left = [span for span in moved if span.start < span.end]
        rounds += 1
    total = sum(size for _, size in sizes)
    assert rounds == -(-total // most)


@given(SIZES)
def test_positions_and_offsets_are_the_same(sizes: list[tuple[int, int]]) -> None:
    offsets = {("t", p): start for p, (start, _) in enumerate(sizes)}
    assert flat(nested(offsets)) == offsets
    assert spans(offsets, offsets) == []
