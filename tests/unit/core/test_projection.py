"""Projections: where they do not fit, and the ones that users supply."""

import pytest

from falkirk.core import (
    EPOCH,
    Chain,
    Checkpoint,
    Custom,
    DefinitionError,
    Edge,
    Enter,
    Feedback,
    Graph,
    Identity,
    Leave,
    Recorded,
    Sequence,
    Structured,
    TotalFrontier,
)

LOOP = Structured(2)


@pytest.mark.parametrize(
    ("kind", "source", "target", "said"),
    [
        (Identity, EPOCH, LOOP, "'identity' leads from depth n to depth n, not from 1 to 2"),
        (Enter, LOOP, LOOP, r"'enter' leads from depth n to depth n\+1, not from 2 to 2"),
        (Leave, EPOCH, LOOP, "'leave' leads from depth n to depth n-1, not from 1 to 2"),
        (Feedback, LOOP, EPOCH, "'feedback' leads from depth n to depth n, not from 2 to 1"),
        (Feedback, EPOCH, EPOCH, "adds one to a loop counter, and an epoch has none"),
        (Identity, Sequence(), EPOCH, "needs a recorded projection"),
        (Enter, EPOCH, Sequence(), "needs a recorded projection"),
    ],
)
def test_a_projection_that_does_not_fit(kind: type, source, target, said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        kind(source, target)


def test_depth_counts_the_epoch() -> None:
    with pytest.raises(DefinitionError, match="at least its epoch"):
        Structured(0)


def test_a_recorded_projection_is_not_a_function() -> None:
    for ask in (Recorded().phi, Recorded().image, Recorded().adjoint):
        with pytest.raises(DefinitionError, match="known only at recorded checkpoints"):
            ask(EPOCH.top)


def test_a_custom_projection_without_an_adjoint_says_what_to_do() -> None:
    projection = Custom(lambda f: f)
    assert projection.image(TotalFrontier((1,))) == TotalFrontier((1,))
    with pytest.raises(DefinitionError, match="give adjoint_of, or save checkpoints"):
        projection.adjoint(EPOCH.empty)


def test_projections_are_values() -> None:
    assert Enter(EPOCH, LOOP) == Enter(Structured(1), Structured(2))
    assert hash(Enter(EPOCH, LOOP)) == hash(Enter(Structured(1), Structured(2)))
    assert Identity(LOOP, LOOP) != Feedback(LOOP, LOOP)
    assert Identity(LOOP, LOOP) != LOOP


def test_a_custom_image_is_what_a_checkpoint_discards() -> None:
    projection = Custom(lambda f: EPOCH.empty, image_of=lambda f: f)
    graph = Graph(dict.fromkeys("pq", EPOCH), [Edge("e", "p", "q", projection)])
    chain = Chain(graph, "p", [Checkpoint(TotalFrontier((3,)))])
    assert chain.discarded == {"e": [TotalFrontier((3,))]}
