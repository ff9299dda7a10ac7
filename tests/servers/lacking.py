"""What a test does that cannot have what it needs: it is skipped, but never in CI."""

import os
from typing import NoReturn

import pytest


def lacking(what: str, error: Exception) -> NoReturn:
    """Ends a test for want of ``what``: says why, and fails where everything must be tested."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"CI must test with {what}: {error}")
    pytest.skip(f"{what} cannot be had here: {error}")
