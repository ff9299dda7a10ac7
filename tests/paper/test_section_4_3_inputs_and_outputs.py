"""§4.3, inputs and outputs: acknowledgements follow from the low-watermarks."""

from tests.paper.builders import epochs, upto

from falkirk.core import EPOCH, AnyFrontier, Checkpoint, Completed, Monitor, Saved

GRAPH = epochs("imo", d="i > m", e="m > o")
EMPTY = EPOCH.empty


def consumed(t: int) -> Saved:
    """o: "tells that monitor that f has been persisted once the external service has acknowledged
    all records sent at times in f" (§4.3).
    """
    return Saved("o", Checkpoint(upto(t)))


def stateless_pipeline() -> Monitor:
    """An input, a processor in the middle, and an output that sends to the outside."""
    return Monitor(GRAPH, {p: AnyFrontier(EMPTY) for p in "im"})


def decoupled_pipeline() -> Monitor:
    """The same with persistent state in the middle; what it sends is logged."""
    return Monitor(GRAPH, {"i": AnyFrontier(EMPTY)})


def kept(t: int) -> Saved:
    """m has persisted its state up to t and all that it sent."""
    return Saved("m", Checkpoint(upto(t), discarded={"e": EMPTY}))


def delivered(t: int, to: str) -> list[Completed]:
    return [Completed(p, upto(t)) for p in to]


def test_a_stateless_input_acknowledges_what_is_in_its_low_watermark() -> None:
    """§4.3: "Once such a processor is informed by the monitor that it will never need to roll back
    beyond a frontier f it can acknowledge all inputs ingested at times in f".
    """
    monitor = stateless_pipeline()
    monitor.update(delivered(5, "im"))
    for t in range(6):
        advance = monitor.update([consumed(t)])
        assert advance.acknowledge == {"i": upto(t)}
        assert monitor.watermark("i") == upto(t)


def test_in_a_stateless_pipeline_inputs_are_acknowledged_once_outputs_are_consumed() -> None:
    """§4.3: "We can use this mechanism to construct a stateless pipeline in which input records are
    only acknowledged once outputs have been consumed".
    """
    monitor = stateless_pipeline()
    assert monitor.update(delivered(2, "i")).acknowledge == {}
    assert monitor.update(delivered(2, "m")).acknowledge == {}, "processed, but not yet consumed"
    assert monitor.update([consumed(1)]).acknowledge == {"i": upto(1)}
    assert monitor.update(delivered(7, "im")).acknowledge == {}, "and epoch 2 goes on waiting"
    assert monitor.update([consumed(4)]).acknowledge == {"i": upto(4)}


def test_persistent_state_decouples_input_receipt_from_output_acknowledgement() -> None:
    """§4.3: "or by adding persistent state in the pipeline we can decouple input receipt from
    output acknowledgement".
    """
    monitor = decoupled_pipeline()
    assert monitor.update(delivered(2, "i")).acknowledge == {}
    assert monitor.update([kept(1)]).acknowledge == {"i": upto(1)}, "nothing is consumed yet"
    assert monitor.watermark("o") == EMPTY
    assert monitor.update([kept(2)]).acknowledge == {"i": upto(2)}
    advance = monitor.update([consumed(0)])
    assert advance.acknowledge == {}
    assert advance.logs == {"e": upto(0)}, "m may forget what the outside has"


def test_state_in_the_middle_that_logs_nothing_decouples_nothing() -> None:
    """It has discarded what the output may yet need, so it must be able to go back."""
    monitor = decoupled_pipeline()
    monitor.update([*delivered(2, "i"), Saved("m", Checkpoint(upto(2)))])
    assert monitor.watermark("i") == monitor.watermark("m") == EMPTY
    assert monitor.update([consumed(2)]).acknowledge == {"i": upto(2)}


def test_an_output_lets_the_rest_of_the_system_forget() -> None:
    """§4.3: "at which point the rest of the system may discard state that would be needed to
    regenerate those output records".
    """
    monitor = stateless_pipeline()
    monitor.update(delivered(3, "im"))
    assert monitor.update([consumed(3)]).watermarks == dict.fromkeys("imo", upto(3))


def test_only_inputs_acknowledge() -> None:
    monitor = stateless_pipeline()
    monitor.update(delivered(3, "im"))
    assert set(monitor.update([consumed(3)]).acknowledge) == {"i"}
