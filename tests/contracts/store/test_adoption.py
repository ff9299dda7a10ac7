"""A store belongs to one flow, and says in words how another one differs."""

import pytest
from tests.contracts.store.places import Place

from falkirk.core.errors import StoreError

FLOW = {
    "processors": {"p": {"policy": "lazy", "depth": 1}, "q": {"policy": "eager"}},
    "edges": {"e": {"source": "p", "target": "q"}},
}
OTHER = {
    "processors": {"p": {"policy": "batch", "depth": 1, "opaque": True}, "r": {}},
    "edges": {"e": {"source": "p", "target": "r"}, "f": {}},
}


def test_the_same_flow_comes_back(lasting: Place) -> None:
    lasting.started().adopt(FLOW)
    lasting.again().adopt({"edges": FLOW["edges"], "processors": FLOW["processors"]})


def test_every_difference_is_told(lasting: Place) -> None:
    lasting.started().adopt(FLOW)
    with pytest.raises(StoreError) as caught:
        lasting.again().adopt(OTHER)
    for line in (
        """processor 'p': policy changed from "lazy" to "batch\"""",
        "processor 'p': opaque changed from nothing to true",
        "processor 'q' was removed",
        "processor 'r' was added",
        """edge 'e': target changed from "q" to "r\"""",
        "edge 'f' was added",
    ):
        assert f"\n  - {line}\n" in str(caught.value)
    assert "depth" not in str(caught.value)
