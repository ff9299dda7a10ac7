"""Channels: what may be delivered next, and what a rollback does to a queue."""

from hypothesis import given
from hypothesis import strategies as st

from falkirk.core.machine.channels import Channels
from falkirk.core.machine.message import Message, deliverable
from falkirk.core.times import Time

RECEIVERS = {"e": "p", "f": "q"}


def queue_of(*times: Time) -> list[Message]:
    return [Message(n, "e", time, time, None) for n, time in enumerate(times)]


def numbers(messages: list[Message]) -> list[int]:
    return [message.number for message in messages]


def test_a_channel_gives_and_takes() -> None:
    channels = Channels(RECEIVERS)
    queue = queue_of((0,), (1,))
    for message in queue:
        channels.put(message)
    channels.take(queue[0])
    assert channels.queues == {"e": [queue[1]], "f": []}


def test_a_channel_keeps_what_is_wanted() -> None:
    channels = Channels(RECEIVERS)
    for message in queue_of((0,), (2,), (1,)):
        channels.put(message)
    channels.keep("e", lambda message: message.cause <= (1,))
    assert numbers(channels.queues["e"]) == [0, 2]


def test_logged_messages_come_back_in_the_order_of_sending_and_none_twice() -> None:
    channels = Channels(RECEIVERS)
    queue = queue_of((0,), (1,), (2,), (3,))
    channels.put(queue[1])
    channels.put(queue[3])
    channels.restore("e", [queue[2], queue[0], queue[3]])
    assert numbers(channels.queues["e"]) == [0, 1, 2, 3]


CHANGES = ("put", "take", "put_back", "keep", "clear", "restore")


@given(st.lists(st.tuples(st.sampled_from(CHANGES), st.integers(0, 5)), max_size=12))
def test_what_may_be_delivered_follows_every_change_of_the_queue(
    changes: list[tuple[str, int]],
) -> None:
    channels, taken = Channels(RECEIVERS), list[Message]()
    for number, (change, choice) in enumerate(changes):
        queue = channels.queues["e"]
        match change:
            case "put":
                channels.put(Message(number, "e", (choice,), (choice,), None))
            case "take" if queue:
                taken.append(queue[choice % len(queue)])
                channels.take(taken[-1])
            case "put_back" if taken:
                channels.put_back(taken.pop())
            case "keep":
                bound = (choice,)
                channels.keep("e", lambda message, bound=bound: message.cause <= bound)
            case "clear":
                channels.clear("e")
            case "restore":
                channels.restore("e", taken)
                taken = []
        found = channels.deliveries("e")
        assert [each.message for each in found] == deliverable(channels.queues["e"])
        assert {each.processor for each in found} <= {"p"}
