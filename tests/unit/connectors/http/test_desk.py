"""The desk: who gets which answer, and when; what is read again, and what is forgotten."""

from typing import Any

import pytest

from falkirk.connectors.http.desk import Desk, Refused
from falkirk.connectors.http.ticket import Outcome, Ticket


class Clock:
    """A clock that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def desk(waiting_max: int = 10, bytes_max: int = 100, at_once: bool = False) -> Desk:
    """An open desk that remembers for ten seconds."""
    made = Desk(waiting_max, bytes_max, remember_seconds=10, remember_max=3, clock=Clock())
    made.at_once = at_once
    made.begin(lambda: None)
    return made


def ask(
    at: Desk,
    told: list[Any],
    key: str | None = None,
    n: int = 1,
    size: int = 1,
    digest: bytes = b"",
) -> Ticket:
    """Hands in ``n`` rows; the outcome goes to ``told``."""
    return at.hand_in(key, [{"n": i} for i in range(n)], size, digest, told.append)


def test_an_answer_waits_for_the_acknowledgement() -> None:
    at, told = desk(), list[Any]()
    ticket = ask(at, told)
    assert at.take(0, None, None) == 1
    at.answer({ticket.name: [{"x": 1}]})
    assert not told
    at.commit(1)
    assert told == [Outcome(200, [{"x": 1}])]


def test_an_acknowledgement_waits_for_the_answer() -> None:
    at, told = desk(), list[Any]()
    ticket = ask(at, told)
    at.take(0, None, None)
    at.commit(1)
    assert not told
    at.answer({ticket.name: [{"x": 1}]})
    assert told == [Outcome(200, [{"x": 1}])]


def test_at_once_nothing_is_waited_for() -> None:
    at, told = desk(at_once=True), list[Any]()
    ticket = ask(at, told)
    at.take(0, None, None)
    at.answer({ticket.name: [{"x": 1}]})
    assert [each.status for each in told] == [200]
    assert not at.awaited


def test_an_answer_that_comes_again_before_it_is_given_replaces_the_first() -> None:
    at, told = desk(), list[Any]()
    ticket = ask(at, told)
    at.take(0, None, None)
    at.answer({ticket.name: [{"x": 1}]})
    at.answer({ticket.name: [{"x": 2}]})
    at.commit(1)
    at.answer({ticket.name: [{"x": 3}]})
    assert told == [Outcome(200, [{"x": 2}])]


@pytest.mark.parametrize("order", ["settle commit", "commit settle"])
def test_without_an_answer_there_is_no_content(order: str) -> None:
    at, told = desk(), list[Any]()
    ask(at, told)
    at.take(0, None, None)
    for step in order.split():
        assert not told
        getattr(at, step)(1)
    assert told == [Outcome(204)]


def test_what_was_not_read_yet_is_never_settled() -> None:
    at, told = desk(at_once=True), list[Any]()
    ask(at, told)
    at.settle(5)
    assert not told


def test_what_was_rolled_back_is_read_again_in_the_same_epochs() -> None:
    at, told = desk(), list[Any]()
    first = [ask(at, told), ask(at, told)]
    assert at.take(0, None, None) == 2
    second = ask(at, told)
    assert at.take(2, None, None) == 3
    ask(at, told)
    assert (at.take(0, None, None), between(at, 0, 2)) == (2, first)
    assert (at.take(2, None, None), between(at, 2, 3)) == (3, [second])
    assert at.take(3, None, None) == 4
    at.commit(2)
    assert (at.take(2, None, None), between(at, 0, 2)) == (3, [])


def between(at: Desk, start: int, end: int) -> list[Ticket]:
    """The requests of a range."""
    return [ticket for ticket, _ in at.read(start, end)]


def test_answers_to_an_earlier_attempt_are_passed_over() -> None:
    at, told = desk(), list[Any]()
    ask(at, told)
    at.take(0, None, None)
    ((_, first),) = at.read(0, 1)
    ((ticket, second),) = at.read(0, 1)
    assert first != second
    at.answer({second: [{"x": 2}], first: [{"x": 1}]})
    assert ticket.answer == [{"x": 2}]
    at.answer({first: [{"x": 1}]})
    at.commit(1)
    assert told == [Outcome(200, [{"x": 2}])]


@pytest.mark.parametrize("name", ["", "nobody", "nobody.1", "."])
def test_answers_to_nobody_are_passed_over(name: str) -> None:
    at, told = desk(at_once=True), list[Any]()
    ask(at, told)
    at.answer({name: [{"x": 1}]})
    assert not told


def test_another_process_goes_on_with_the_numbers_and_has_no_rows_for_the_old_ones() -> None:
    at, told = desk(), list[Any]()
    assert at.take(17, None, None) == 17
    ticket = ask(at, told)
    assert at.take(17, None, None) == 18
    assert between(at, 3, 17) == []
    assert between(at, 17, 18) == [ticket]


def test_names_are_never_those_of_another_process() -> None:
    assert ask(desk(), []).id != ask(desk(), []).id


def test_limits_divide_between_requests_and_never_one() -> None:
    at = desk(bytes_max=1000)
    for n, size in ((2, 5), (2, 5), (9, 5), (1, 50), (1, 5)):
        ask(at, [], n=n, size=size)
    ends = [0]
    while (end := at.take(ends[-1], 4, 20)) > ends[-1]:
        ends.append(end)
    assert ends == [0, 2, 3, 4, 5]


def test_a_full_desk_refuses_until_something_is_read() -> None:
    at = desk(waiting_max=2)
    ask(at, []), ask(at, [])
    with pytest.raises(Refused) as found:
        ask(at, [])
    assert (found.value.outcome.status, found.value.outcome.retry_seconds) == (429, 1)
    at.take(0, None, None)
    ask(at, [])


def test_bytes_are_bounded_but_one_request_always_fits() -> None:
    at = desk(bytes_max=10)
    ask(at, [], size=50)
    with pytest.raises(Refused, match="too many"):
        ask(at, [], size=1)


def test_a_retry_joins_the_first_attempt() -> None:
    at, one, two = desk(), list[Any](), list[Any]()
    first = ask(at, one, "k")
    assert ask(at, two, "k") is first
    assert at.take(0, None, None) == 1
    assert ask(at, two, "k") is first
    at.answer({first.name: [{"x": 1}]})
    at.commit(1)
    assert one == [Outcome(200, [{"x": 1}])]
    assert two == one * 2


def test_a_finished_one_is_answered_from_memory_for_a_while() -> None:
    at, told = desk(), list[Any]()
    ticket = ask(at, told, "k")
    at.take(0, None, None)
    at.answer({ticket.name: [{"x": 1}]})
    at.commit(1)
    ask(at, told, "k")
    assert told == [Outcome(200, [{"x": 1}])] * 2
    assert at.take(1, None, None) == 1
    at.clock.now = 11.0  # type: ignore[attr-defined]
    ask(at, told, "k")
    assert at.take(1, None, None) == 2


def test_no_more_is_remembered_than_was_said() -> None:
    at = desk()
    for i in range(5):
        ticket = ask(at, [], f"k{i}")
        at.take(i, None, None)
        at.answer({ticket.name: []})
        at.commit(i + 1)
    for i in range(5, 10):
        ticket = ask(at, [])
        at.take(i, None, None)
        at.answer({ticket.name: []})
        at.commit(i + 1)
    assert list(at.memory.done) == ["k2", "k3", "k4"], "what has no key is not remembered"
    assert not at.memory.going


def test_a_key_is_for_one_body() -> None:
    at = desk()
    ask(at, [], "k", digest=b"one")
    with pytest.raises(Refused) as found:
        ask(at, [], "k", digest=b"two")
    assert found.value.outcome.status == 422


def test_who_leaves_before_being_read_takes_the_request_along() -> None:
    at, told, other = desk(), list[Any](), list[Any]()
    at.leave(ask(at, told), told.append)
    assert at.take(0, None, None) == 0
    shared = ask(at, told, "k")
    ask(at, other, "k")
    at.leave(shared, told.append)
    assert at.take(0, None, None) == 1


def test_who_leaves_later_can_come_back_for_the_answer() -> None:
    at, told = desk(), list[Any]()
    ticket = ask(at, told, "k")
    at.take(0, None, None)
    at.leave(ticket, told.append)
    at.answer({ticket.name: [{"x": 1}]})
    at.commit(1)
    assert not told
    ask(at, told, "k")
    assert told == [Outcome(200, [{"x": 1}])]


def test_what_everybody_has_left_and_nobody_answers_is_forgotten() -> None:
    at, told = desk(), list[Any]()
    ticket = ask(at, told, "k")
    at.take(0, None, None)
    at.leave(ticket, told.append)
    at.commit(1)
    assert at.memory.find("k") is ticket
    at.clock.now = 11.0  # type: ignore[attr-defined]
    ask(at, told, "other")
    assert at.memory.find("k") is None


def test_stopping_turns_away_what_was_not_read_and_finishes_the_rest() -> None:
    at, told, late = desk(), list[Any](), list[Any]()
    ticket = ask(at, told)
    at.take(0, None, None)
    ask(at, late)
    assert not at.read_all(1)
    at.stop()
    assert [each.status for each in late] == [503]
    with pytest.raises(Refused, match="stopping"):
        ask(at, [])
    assert at.read_all(1)
    assert not at.read_all(0)
    at.answer({ticket.name: []})
    at.commit(1)
    assert [each.status for each in told] == [200]


def test_closing_tells_everybody_to_retry() -> None:
    at, told = desk(), list[Any]()
    ask(at, told, "k")
    at.take(0, None, None)
    at.close()
    assert [each.status for each in told] == [503]
    at.begin(lambda: None)
    ask(at, told, "k")
    assert at.take(1, None, None) == 2


def test_whoever_comes_wakes_the_flow() -> None:
    at, woken = desk(), list[int]()
    at.begin(lambda: woken.append(1))
    ask(at, [])
    assert woken == [1]
