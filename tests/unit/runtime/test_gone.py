"""Whether Spark itself is gone, and what is said then."""

from typing import Any, cast

import pytest
from tests.unit.runtime.test_blocks import FakeGateway, Frame, blocks_on

from falkirk.runtime.gone import gone

REFUSED = ConnectionRefusedError("nobody is there")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        pytest.param(3, "spark.driver.memory", id="out of memory"),
        pytest.param(52, "spark.driver.memory", id="ended by Spark for that"),
        pytest.param(-9, "killed", id="killed"),
        pytest.param(50, "standard error", id="anything else"),
    ],
)
def test_how_a_jvm_has_ended_says_what_to_do(status: int, said: str) -> None:
    gateway = FakeGateway()
    assert gone(cast(Any, gateway), REFUSED) is None
    gateway.status = status
    reason = gone(cast(Any, gateway), REFUSED)
    assert reason is not None
    assert f"status {status}" in str(reason)
    assert said in str(reason)
    assert reason.passes
    assert reason.__cause__ is REFUSED


def test_on_spark_connect_the_error_itself_has_to_tell() -> None:
    """It may be what another error came of."""
    assert gone(None, ValueError("a mistake")) is None
    outer = RuntimeError("a job failed")
    outer.__cause__ = RuntimeError("StatusCode.UNAVAILABLE: failed to connect")
    reason = gone(None, outer)
    assert reason is not None
    assert "Connect" in str(reason)


def test_blocks_of_a_jvm_that_has_ended_are_left_alone() -> None:
    """Else closing would fail, and hide why the flow stopped."""
    gateway = FakeGateway()
    blocks = blocks_on(gateway)
    kept = blocks.cache(Frame(1))
    gateway.status = -9
    blocks.close()
    assert kept.lost
    assert gateway.released == []
