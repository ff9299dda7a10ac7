"""Progress: notifications are never early and never late, against a search through the graph."""

from itertools import pairwise
from random import Random

import pytest
from tests.paper.builders import graph_of

from falkirk.core import EPOCH, Graph, Order, Structured
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Close, Finish, Ingest, Result
from falkirk.core.machine.flow import Role
from falkirk.core.machine.progress import Progress
from falkirk.core.machine.summary import edge_summary, path_summaries
from falkirk.core.order import product_leq
from falkirk.core.policy import ephemeral, lazy
from falkirk.core.times import ProcessorId, Time
from falkirk.testing.small import chain

LIMIT = 3
"""Coordinates up to here are looked at; the search goes one further."""


def reachable(graph: Graph, stamps: list[tuple[str, Time]]) -> set[tuple[str, Time]]:
    """Every (processor, time) at which something may happen, found step by step.

    An event at t may cause another one at any later time at the same processor, and what an edge
    makes of it at the next.
    """
    found = set(stamps)
    pending = list(stamps)
    while pending:
        p, time = pending.pop()
        steps = [
            (p, (*time[:i], time[i] + 1, *time[i + 1 :]))
            for i in range(len(time))
            if time[i] <= LIMIT
        ]
        steps += [(e.target, edge_summary(e.projection).apply(time)) for e in graph.outputs(p)]
        for step in steps:
            if step not in found and max(step[1]) <= LIMIT + 1:
                found.add(step)
                pending.append(step)
    return found


def small_times(depth: int) -> list[Time]:
    times: list[Time] = [()]
    for _ in range(depth):
        times = [(*time, c) for time in times for c in range(LIMIT + 1)]
    return times


def random_graph(random: Random) -> Graph:
    """A line of processors with a shortcut, perhaps a loop, perhaps one inside it."""
    order = random.choice(list(Order))
    loop, inner = Structured(2, order), Structured(3, order)
    domains = {"a": EPOCH, "b": EPOCH}
    edges = {"ab": "a > b"}
    shape = random.choice(("line", "fork", "loop", "nested", "two bodies"))
    if shape == "line":
        domains |= {"c": EPOCH}
        edges |= {"bc": "b > c"}
    elif shape == "fork":
        domains |= {"c": EPOCH, "d": EPOCH}
        edges |= {"ac": "a > c", "cd": "c > d", "bd": "b > d"}
    else:
        domains |= {"x": loop, "z": EPOCH}
        edges |= {"bx": "b > x by enter", "xz": "x > z by leave"}
        if shape == "loop":
            edges |= {"xx": "x > x by feedback"}
        elif shape == "two bodies":
            domains |= {"y": loop}
            edges |= {"xy": "x > y", "yx": "y > x by feedback", "yz": "y > z by leave"}
        else:
            domains |= {"i": inner, "y": loop}
            edges |= {
                "xi": "x > i by enter",
                "ii": "i > i by feedback",
                "iy": "i > y by leave",
                "yx": "y > x by feedback",
            }
    return graph_of(domains, **edges)


@pytest.mark.parametrize("seed", range(60))
def test_exactly_what_nothing_can_reach_is_complete(seed: int) -> None:
    random = Random(seed)
    graph = random_graph(random)
    progress = Progress(graph.domains, path_summaries(graph))
    stamps: list[tuple[str, Time]] = []
    for _ in range(random.randint(0, 4)):
        p = random.choice(list(graph.domains))
        stamps.append((p, tuple(random.randint(0, LIMIT) for _ in range(graph.domains[p].depth))))
    progress.rebuild(stamps)
    reached = reachable(graph, stamps)
    for p, domain in graph.domains.items():
        complete = progress.completed(p)
        times = small_times(domain.depth)
        for time in times:
            before = [t for t in times if domain.order.leq(t, time)]
            wanted = not any((p, t) in reached for t in before)
            assert (time in complete) == wanted, f"seed {seed}: {p} at {time}, {complete}"


@pytest.mark.parametrize("seed", range(60))
def test_a_notification_comes_when_only_its_request_holds_the_time_open(seed: int) -> None:
    random = Random(seed)
    graph = random_graph(random)
    progress = Progress(graph.domains, path_summaries(graph))
    stamps: list[tuple[str, Time]] = []
    for _ in range(random.randint(1, 4)):
        p = random.choice(list(graph.domains))
        stamps.append((p, tuple(random.randint(0, 2) for _ in range(graph.domains[p].depth))))
    progress.rebuild(stamps)
    for p, time in stamps:
        rest = list(stamps)
        rest.remove((p, time))
        reached = reachable(graph, rest)
        before = [t for t in small_times(len(time)) if product_leq(t, time)]
        wanted = not any((p, t) in reached for t in before)
        assert progress.may_notify(p, time) == wanted, f"seed {seed}: {p} at {time} of {stamps}"


def test_with_nothing_outstanding_everything_is_complete() -> None:
    graph = graph_of({"a": EPOCH, "b": EPOCH}, ab="a > b")
    progress = Progress(graph.domains, path_summaries(graph))
    assert progress.completed("b").is_top
    assert progress.may_notify("b", (7,))


def test_counts_are_counted() -> None:
    graph = graph_of({"a": EPOCH, "b": EPOCH}, ab="a > b")
    progress = Progress(graph.domains, path_summaries(graph))
    progress.add("a", (1,))
    progress.add("a", (1,))
    assert progress.completed("b") == EPOCH.frontier([(0,)])
    progress.remove("a", (1,))
    assert progress.completed("b") == EPOCH.frontier([(0,)])
    progress.remove("a", (1,))
    assert progress.completed("b").is_top


def test_adding_and_removing_comes_to_the_same_as_counting_anew() -> None:
    for seed in range(20):
        random = Random(seed)
        graph = random_graph(random)
        summaries = path_summaries(graph)
        progress, stamps = Progress(graph.domains, summaries), []
        for _ in range(30):
            if stamps and random.random() < 0.4:
                progress.remove(*stamps.pop(random.randrange(len(stamps))))
            else:
                p = random.choice(list(graph.domains))
                time = tuple(random.randint(0, 3) for _ in range(graph.domains[p].depth))
                stamps.append((p, time))
                progress.add(p, time)
            anew = Progress(graph.domains, summaries)
            anew.rebuild(stamps)
            assert progress.counts == anew.counts
            assert all(progress.completed(p) == anew.completed(p) for p in graph.domains)


@pytest.mark.parametrize("seed", range(40))
def test_whatever_completes_more_is_stale(seed: int) -> None:
    """What was worked out is kept only as long as it is true, and who should look again is told."""
    random = Random(seed)
    graph = random_graph(random)
    progress = Progress(graph.domains, path_summaries(graph))
    stamps: list[tuple[str, Time]] = []
    known = {p: progress.completed(p) for p in graph.domains}
    for _ in range(30):
        progress.stale.clear()
        if stamps and random.random() < 0.5:
            progress.remove(*stamps.pop(random.randrange(len(stamps))))
        else:
            p = random.choice(list(graph.domains))
            depth = graph.domains[p].depth
            stamps.append((p, tuple(random.randint(0, LIMIT) for _ in range(depth))))
            progress.add(*stamps[-1])
        fresh = Progress(graph.domains, path_summaries(graph))
        fresh.rebuild(stamps)
        for p, before in known.items():
            assert progress.completed(p) == fresh.completed(p), f"seed {seed}: {p} of {stamps}"
            assert fresh.completed(p) <= before or p in progress.stale, f"seed {seed}: {p}"
        known = {p: progress.completed(p) for p in graph.domains}


def line(processors: int) -> Graph:
    names = [f"p{number}" for number in range(processors)]
    edges = {f"e{n}": f"{a} > {b}" for n, (a, b) in enumerate(pairwise(names))}
    return graph_of(dict.fromkeys(names, EPOCH), **edges)


def test_a_message_that_moves_on_has_nobody_behind_it_look_again() -> None:
    """Else an epoch would cost the square of a long chain, for each of its processors."""
    graph = line(10)
    progress = Progress(graph.domains, path_summaries(graph))
    progress.add("p0", (1,))
    progress.add("p0", (0,))
    for number in range(9):
        known = {p: progress.completed(p) for p in graph.domains}
        progress.stale.clear()
        progress.add(f"p{number + 1}", (0,))
        progress.remove(f"p{number}", (0,))
        assert progress.stale == {f"p{number}"}
        behind = [f"p{n}" for n in range(number + 1, 10)]
        assert [progress.completed(p) for p in behind] == [known[p] for p in behind]
        assert progress.completed(f"p{number}") == EPOCH.frontier([(0,)])


def test_finished_work_is_counted_after_what_it_led_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a whole epoch asks about as many processors as there are, not about all for each."""
    asked: list[str] = []
    completed = Progress._completed

    def counting(self: Progress, p: ProcessorId) -> object:
        asked.append(p)
        return completed(self, p)

    monkeypatch.setattr(Progress, "_completed", counting)
    world = chain(ephemeral(), [ephemeral()] * 30, lazy())
    machine = Machine(world.flow)
    (source,) = [p for p, each in world.flow.processors.items() if each.role is Role.INPUT]
    for event in (Ingest(source, "rows"), Close(source)):
        machine.step(event)
    asked.clear()
    while items := machine.enabled():
        work = machine.begin(items[0])
        outputs = world.flow.graph.outputs(work.processor)
        sends = tuple((edge.name, work.time, "rows") for edge in outputs)
        machine.step(Finish(work, Result(sends)))
    assert len(asked) <= 3 * len(world.flow.processors)
