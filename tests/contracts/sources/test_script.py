"""The scripted source, which tests of flows rely on, keeps the contract itself."""

from collections.abc import Callable
from typing import Any

import pytest

from falkirk.testing.contracts import SourceContract
from falkirk.testing.script import Script

ROWS = [{"n": n, "text": f"row {n}"} for n in range(10)]


class TestScript(SourceContract):
    """Epochs that are written down."""

    rows_max = 2

    @pytest.fixture
    def make(self) -> Callable[[], Any]:
        return lambda: Script([ROWS[n : n + 2] for n in range(0, 10, 2)])

    @pytest.fixture
    def expected(self) -> list[dict[str, Any]]:
        return ROWS
