"""The laws of orders."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.grids import (
    times,
)

from falkirk.core import (
    Order,
    SequenceNumber,
    SequenceOrder,
)


@pytest.mark.parametrize("order", Order)
@given(data=st.data(), depth=st.integers(1, 3))
def test_structured_orders_are_lattices(order: Order, data: st.DataObject, depth: int) -> None:
    a, b, c = (data.draw(times(depth)) for _ in "abc")
    assert order.leq(a, a)
    assert not (order.leq(a, b) and order.leq(b, a)) or a == b
    assert not (order.leq(a, b) and order.leq(b, c)) or order.leq(a, c)
    for bound, below in ((order.meet(a, b), True), (order.join(a, b), False)):
        mine, theirs = (order.leq(bound, t) if below else order.leq(t, bound) for t in (a, b))
        assert mine
        assert theirs
        if below and order.leq(c, a) and order.leq(c, b):
            assert order.leq(c, bound)
        if not below and order.leq(a, c) and order.leq(b, c):
            assert order.leq(bound, c)
    assert order.meet(a, b) == order.meet(b, a)
    assert order.join(a, b) == order.join(b, a)


@given(times(2), times(2))
def test_the_lexicographic_order_is_total_and_extends_the_product_order(a: Any, b: Any) -> None:
    assert Order.LEX.leq(a, b) or Order.LEX.leq(b, a)
    assert not Order.PRODUCT.leq(a, b) or Order.LEX.leq(a, b)


def test_sequence_numbers_are_partially_ordered() -> None:
    order, numbers = SequenceOrder(), [SequenceNumber(e, n) for e in "de" for n in (1, 2, 3)]
    for a, b, c in product(numbers, repeat=3):
        assert order.leq(a, a)
        assert not (order.leq(a, b) and order.leq(b, a)) or a == b
        assert not (order.leq(a, b) and order.leq(b, c)) or order.leq(a, c)
