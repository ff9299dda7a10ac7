"""Steps between epochs and sequence numbers, at their ends and with nothing sent."""

from falkirk.core import EPOCH, Sequence, SequenceFrontier, Steps, TotalFrontier


def test_an_epoch_without_messages_fixes_nothing() -> None:
    """Sequence numbers count from one: no messages are ∅, not ↓(0)."""
    bridge = Steps.epoch_to_sequence([0, 5])
    assert bridge.phi(TotalFrontier((0,))) == bridge.image(TotalFrontier((0,))) == TotalFrontier()
    assert bridge.phi(TotalFrontier((1,))) == TotalFrontier((5,))
    assert bridge.adjoint(TotalFrontier()) == TotalFrontier((0,))


def test_nothing_maps_to_nothing() -> None:
    """A window that closes before the first message is fixed by the first message."""
    windows = Steps.sequence_to_epoch("e", [0, 5])
    assert windows.phi(Sequence().empty) == windows.image(Sequence().empty) == EPOCH.empty
    assert windows.phi(SequenceFrontier({"e": 1})) == TotalFrontier((0,))


def test_a_second_input_makes_the_image_everything() -> None:
    windows = Steps.sequence_to_epoch("e", [10, 25])
    assert windows.image(SequenceFrontier({"e": 3})) == TotalFrontier((0,))
    assert windows.image(SequenceFrontier({"d": 1, "e": 3})).is_top
    assert windows.phi(SequenceFrontier({"d": 1, "e": 10})) == TotalFrontier((0,))
