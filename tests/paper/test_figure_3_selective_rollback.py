"""Figure 3 and §2.3, selective rollback: Select, Sum and Buffer with interleaved times A and B."""

from tests.paper.builders import epochs, upto

from falkirk.core import EPOCH, Chain, Event, Graph, History, Message, solve

A, B = (0,), (1,)


def histories() -> tuple[Graph, dict[str, History]]:
    """A message of B comes between two of A; Sum sends each sum when its time is complete."""
    graph = epochs("itsb", d="i > t", e1="t > s", e2="s > b")
    both = [A, B, A]
    select = tuple(Event(t, "d", (Message("e1", t),)) for t in both)
    total = (*(Event(t, "e1") for t in both), Event(A, None, (Message("e2", A),)))
    source = tuple(Event(t, None, (Message("d", t),)) for t in both)
    return graph, {
        "i": History(graph, "i", source),
        "t": History(graph, "t", select),
        "s": History(graph, "s", total),
        "b": History(graph, "b", (Event(A, "e2"),)),
    }


def test_the_checkpoint_is_a_state_that_the_processor_was_never_in() -> None:
    """§2.3: "it saves the state it would contain having seen all time A messages and no time B
    messages. In general this checkpoint may not correspond to a state the processor has previously
    been in".
    """
    _, found = histories()
    kept = found["s"].at(upto(0)).events
    assert [event.time for event in kept] == [A, A, A]
    prefixes = [found["s"].events[:n] for n in range(len(found["s"].events) + 1)]
    assert kept not in prefixes


def test_processors_roll_back_to_all_of_a_and_none_of_b() -> None:
    """Figure 3: "Processors roll back to a state where they have consumed all messages at A and
    none at B".
    """
    graph, found = histories()
    chains = {
        p: Chain(graph, p, [h.checkpoint(EPOCH.empty), h.checkpoint(upto(0))])
        for p, h in found.items()
    }
    assert set(solve(graph, chains).frontiers.values()) == {upto(0)}
