"""§3.3, message re-ordering: which queued messages a processor may process next."""

from itertools import product

from falkirk.core import EPOCH, Order, Structured


def may_be_next(order: Order, queue: list[tuple[int, ...]]) -> list[int]:
    """The positions in ``queue``, earliest first, of the messages that may be removed now.

    §3.3: "any message m_i where time(m_j) ≰ time(m_i) ∀ j<i".
    """
    return [
        i
        for i, time in enumerate(queue)
        if not any(order.leq(earlier, time) for earlier in queue[:i])
    ]


def test_an_earlier_epoch_overtakes_later_ones() -> None:
    """§3.3: "if m5 is in epoch 1 and all of m1…m4 are in epochs 2 or greater, p can choose to
    process m5 next".
    """
    queue = [(2,), (3,), (2,), (5,), (1,)]
    assert may_be_next(Order.LEX, queue) == [0, 4]


def test_messages_of_one_time_keep_their_order_and_the_first_may_always_go() -> None:
    for queue in product([(0, 0), (0, 1), (1, 0)], repeat=4):
        for order in Order:
            free = may_be_next(order, list(queue))
            assert free[0] == 0
            assert len({queue[i] for i in free}) == len(free)


def test_any_frontier_can_be_consumed_before_the_rest() -> None:
    """§3.3: the rule is what allows "to roll p back to a state in which it has processed all the
    epoch 1 events and none from later epochs, independent of the order".
    """
    domains = [(EPOCH, [(1,)]), (Structured(2, Order.PRODUCT), [(0, 1), (1, 0)])]
    for domain, tops in domains:
        frontier = domain.frontier(tops)
        times = list(product(range(3), repeat=domain.depth))
        for queue in product(times, repeat=3):
            left = list(queue)
            while any(t in frontier for t in left):
                inside = [i for i in may_be_next(domain.order, left) if left[i] in frontier]
                assert inside, f"{left} cannot go on inside {frontier}"
                del left[inside[0]]
            assert left == [t for t in queue if t not in frontier]
