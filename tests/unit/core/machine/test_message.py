"""Messages: which of them may be processed next."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from falkirk.core.machine.message import Message, deliverable, precedes
from falkirk.core.order import product_leq
from falkirk.core.times import SequenceNumber, Time


def queue_of(*times: Time) -> list[Message]:
    return [Message(n, "e", time, time, None) for n, time in enumerate(times)]


def numbers(messages: list[Message]) -> list[int]:
    return [message.number for message in messages]


def test_nothing_is_deliverable_from_an_empty_queue() -> None:
    assert deliverable([]) == []


def test_the_head_is_always_deliverable() -> None:
    for times in permutations([(0,), (1,), (2,)]):
        assert deliverable(queue_of(*times))[0].number == 0


def test_equal_times_keep_their_order() -> None:
    assert numbers(deliverable(queue_of((1,), (1,), (1,)))) == [0]


def test_times_that_cannot_be_compared_may_overtake() -> None:
    assert numbers(deliverable(queue_of((0, 5), (1, 0), (1, 6)))) == [0, 1]


def test_sequence_numbers_never_overtake() -> None:
    queue = [Message(n, "e", SequenceNumber("e", n), (0,), None) for n in (1, 2, 3)]
    assert numbers(deliverable(queue)) == [1]
    assert precedes(SequenceNumber("e", 1), SequenceNumber("e", 2))
    assert not precedes(SequenceNumber("e", 2), SequenceNumber("e", 1))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8))
def test_it_is_the_rule_of_the_paper(times: list[Time]) -> None:
    """§3.3: "any message m_i where time(m_j) ≰ time(m_i) ∀ j < i"."""
    wanted = [i for i, time in enumerate(times) if not any(product_leq(t, time) for t in times[:i])]
    assert numbers(deliverable(queue_of(*times))) == wanted
