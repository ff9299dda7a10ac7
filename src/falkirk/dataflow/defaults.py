"""Which policy a node gets: its own, its region's if that fits, or what suits what it does."""

from falkirk.core.policy import Policy, Regime, at_least_once, batch, ephemeral, lazy
from falkirk.dataflow.connecting import JointSink, Sink, Source
from falkirk.dataflow.location import refusal
from falkirk.dataflow.operators.windows import Windows
from falkirk.dataflow.processor import Processor


def check_policy(policy: Policy | None) -> Policy | None:
    """The policy itself; refuses what is none."""
    if policy is not None and not isinstance(policy, Policy):
        raise refusal(f"{policy!r} is no policy: write fk.lazy(), fk.ephemeral() and so on")
    return policy


def source_policy(source: Source, given: Policy | None, region: Policy | None) -> Policy:
    """A source that can be read again saves positions, another one logs what it gave."""
    if given is not None:
        return _checked(given, source_trouble(source, given))
    if region is not None and not source_trouble(source, region):
        return region
    return lazy() if source.replayable else batch()


def sink_policy(sink: Sink | JointSink, given: Policy | None, region: Policy | None) -> Policy:
    """A sink stages durably and shows what can no longer change, or it is at least once."""
    if given is not None:
        return _checked(given, sink_trouble(sink, given))
    if region is not None and not sink_trouble(sink, region):
        return region
    return lazy() if sink.exactly_once else at_least_once()


def counting_policy(given: Policy | None, region: Policy | None) -> Policy:
    """Who numbers messages saves how many there were."""
    if given is not None:
        return _checked(given, counting_trouble(given))
    return region if region is not None and not counting_trouble(region) else lazy()


def window_policy(operator: Processor, given: Policy | None, region: Policy | None) -> Policy:
    """Windows by count log what they send, others are like all operators.

    An open window is complete nowhere, so if it was not logged nobody could save what is in it.
    """
    if given is not None or not isinstance(operator, Windows):
        return operator_policy(operator, given, region, numbered=True)
    fits = region is not None and not operator_trouble(operator, region, numbered=True)
    return region if region is not None and fits else batch()


def operator_policy(
    operator: Processor, given: Policy | None, region: Policy | None, numbered: bool = False
) -> Policy:
    """An operator that keeps nothing between times saves nothing, another one saves lazily."""
    if given is not None:
        return _checked(given, operator_trouble(operator, given, numbered))
    if region is not None:
        trouble = operator_trouble(operator, region, numbered)
        advice = "; it is the region's policy, so give this one a policy of its own"
        return _checked(region, trouble + advice if trouble else "")
    return ephemeral() if operator.stateless and not operator.opaque else lazy()


def source_trouble(source: Source, policy: Policy) -> str:
    """Why ``policy`` does not fit ``source``, or nothing."""
    regime = policy.regime
    if regime not in (Regime.LAZY, Regime.BATCH, Regime.EAGER):
        return f"{regime.value} does not fit a source: lazy saves positions, batch and eager rows"
    if regime is Regime.LAZY and not source.replayable:
        return (
            "lazy saves only positions, and this source cannot be read again:"
            " batch or eager save its rows"
        )
    return ""


def sink_trouble(sink: Sink | JointSink, policy: Policy) -> str:
    """Why ``policy`` does not fit ``sink``, or nothing."""
    regime = policy.regime
    if regime not in (Regime.LAZY, Regime.EAGER, Regime.AT_LEAST_ONCE):
        return f"{regime.value} does not fit a sink: lazy and eager stage, at_least_once does not"
    if regime is not Regime.AT_LEAST_ONCE and not sink.exactly_once:
        return (
            f"{regime.value} promises exactly once, but this sink cannot recognise what was written"
            " before: at_least_once() says what it does"
        )
    if regime is Regime.AT_LEAST_ONCE and sink.exactly_once:
        return (
            "at_least_once may show a time again with further rows, and this sink leaves out a"
            " time that it has: lazy and eager show each once"
        )
    return ""


def counting_trouble(policy: Policy) -> str:
    """Why ``policy`` does not fit who numbers messages, or nothing."""
    if policy.regime in (Regime.LAZY, Regime.EAGER, Regime.BATCH, Regime.HISTORY):
        return ""
    return (
        f"{policy.regime.value} does not save how many messages were numbered: lazy, eager, batch"
        " and history do"
    )


def operator_trouble(operator: Processor, policy: Policy, numbered: bool = False) -> str:
    """Why ``policy`` does not fit ``operator``, or nothing."""
    regime, kind = policy.regime, type(operator).__name__
    if regime is Regime.SNAPSHOT and not numbered:
        return (
            "snapshot needs sequence numbers, and the times here are epochs and rounds:"
            " in_sequence() numbers the batches of a stream"
        )
    if regime is Regime.AT_LEAST_ONCE and numbered:
        return (
            "at_least_once would send messages again under other numbers: lazy, for one, does not"
        )
    if operator.opaque and regime not in (Regime.LAZY, Regime.EAGER):
        return f"{kind} keeps its state in itself: lazy or eager save it, {regime.value} does not"
    if policy.stateless and not operator.stateless:
        return (
            f"{kind} keeps state between times, which {regime.value} does not save:"
            " lazy, eager or history do"
        )
    return ""


def _checked(policy: Policy, trouble: str) -> Policy:
    if trouble:
        raise refusal(trouble)
    return policy
