"""Spark itself is gone: nobody's code has failed, and nothing can be computed until it is back."""

from falkirk.core.errors import EngineError
from falkirk.runtime.blocks import chain
from falkirk.runtime.classic import Gateway
from falkirk.runtime.reaching import UNREACHABLE

OUT_OF_MEMORY = (3, 52)
"""How a JVM ends that has no memory left: one that is told to end then, and one that Spark ends."""

KILLED = -9


def gone(gateway: Gateway | None, error: BaseException) -> EngineError | None:
    """What to say of an error if it came of that; None if Spark is there.

    Without a gateway, on Spark Connect, only the error itself can tell.
    """
    reason: EngineError | None = None
    if gateway is not None:
        status = gateway.exit_status()
        if status is not None:
            reason = EngineError(
                f"the JVM of Spark has ended with status {status}: {why(status)}. Nothing that was"
                " stored is lost: run again on the same store"
            )
    elif any(mark in str(each) for each in chain(error) for mark in UNREACHABLE):
        reason = EngineError(
            f"the Spark Connect server does not answer: {error}. Nothing that was stored is lost:"
            " bring it back, and run again on the same store"
        )
    if reason is not None:
        reason.__cause__ = error
    return reason


def why(status: int) -> str:
    """What is known of its end.

    >>> why(3).partition(":")[0], why(1)
    ('it ran out of memory', 'what it wrote on standard error may say why')
    """
    if status in OUT_OF_MEMORY:
        return (
            "it ran out of memory: give it more (--conf spark.driver.memory=4g), or read less at"
            " a time (limit=)"
        )
    if status == KILLED:
        return "it was killed, by somebody or by a system that ran out of memory"
    return "what it wrote on standard error may say why"
