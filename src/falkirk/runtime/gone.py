"""Spark itself is gone: nobody's code has failed, and nothing can be computed until it is back."""

from typing import Any

from falkirk.core.errors import EngineError
from falkirk.runtime.blocks import chain
from falkirk.runtime.classic import exit_status
from falkirk.runtime.session import is_connect

OUT_OF_MEMORY = 3
"""How a JVM ends that is told to end when it has no memory left."""

KILLED = -9

UNREACHABLE = ("StatusCode.UNAVAILABLE", "RETRIES_EXCEEDED")
"""What calls of a Spark Connect server say that does not answer."""


def gone(session: Any, error: BaseException) -> EngineError | None:
    """What to say of an error if it came of that; None if Spark is there."""
    status = exit_status(session)
    if status is not None:
        return EngineError(
            f"the JVM of Spark has ended with status {status}: {why(status)}. Nothing that was"
            " stored is lost: run again on the same store"
        )
    if is_connect(session) and any(
        mark in str(each) for each in chain(error) for mark in UNREACHABLE
    ):
        return EngineError(
            f"the Spark Connect server does not answer: {error}. Nothing that was stored is lost:"
            " bring it back, and run again on the same store"
        )
    return None


def why(status: int) -> str:
    """What is known of its end.

    >>> why(OUT_OF_MEMORY).partition(":")[0], why(1)
    ('it ran out of memory', 'what it wrote on standard error may say why')
    """
    if status == OUT_OF_MEMORY:
        return (
            "it ran out of memory: give it more (--conf spark.driver.memory=4g), or read less at"
            " a time (limit=)"
        )
    if status == KILLED:
        return "it was killed, by somebody or by a system that ran out of memory"
    return "what it wrote on standard error may say why"
