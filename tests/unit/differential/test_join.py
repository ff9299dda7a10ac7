"""Which parts of two sides Spark joins: together with what is on the driver, each pair once."""

from collections import Counter
from itertools import product
from typing import Any

import pytest

from falkirk.differential.join import by_spark
from falkirk.differential.traces import Runs

PARTS = [(small, large) for small in ((), ("s1", "s2")) for large in ((), ("l1", "l2"))]


def side(parts: Any) -> Runs:
    small, large = parts
    return Runs(small=list(small), large=list(large))


@pytest.mark.parametrize(("left", "right"), list(product(PARTS, repeat=2)))
def test_each_pair_of_pieces_is_joined_once(left: Any, right: Any) -> None:
    joined = Counter(product(left[0], right[0]))  # by Arrow
    for one, other in by_spark(side(left), side(right)):
        joined.update(product(one.small + one.large, other.small + other.large))
    assert joined == Counter(product(sum(left, ()), sum(right, ())))
