"""How much is tried: little for ``make check``, more for ``make test``, a lot on demand."""

import os

PROFILE = os.environ.get("FALKIRK_HYPOTHESIS", "ci")
FACTOR = {"check": 0.06, "ci": 1.0, "long": 20.0}.get(PROFILE, 1.0)


QUICK = PROFILE == "check"
LONG = PROFILE == "long"


def scaled(count: int) -> int:
    """``count``, for the profile that FALKIRK_HYPOTHESIS names."""
    return max(1, round(count * FACTOR))
