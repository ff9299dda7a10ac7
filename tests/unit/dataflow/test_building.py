"""What is written becomes the flow that the machine runs: names, edges, times, policies."""

from collections.abc import Callable

import pytest
from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.core.domain import EPOCH, Structured
from falkirk.core.errors import DefinitionError
from falkirk.core.machine.flow import Role
from falkirk.core.order import Order
from falkirk.core.policy import Policy
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.dataflow import Dataflow, Input, Limit, Node, Processor, Stream


class Keeper(Processor):
    """Keeps state."""


class Own(Processor):
    """Keeps its state in itself."""

    opaque = True


class Two(Processor):
    """Has two outputs."""

    outputs = 2


def edges(flow: Dataflow) -> dict[str, str]:
    """Each edge with its projection."""
    return {e.name: e.projection.name for e in flow.build().flow.graph.edges.values()}


def test_a_chain_has_an_edge_for_each_step() -> None:
    flow = fk.Dataflow("words")
    lines = flow.read(Source(), name="lines")
    counts = lines.select("explode(value) AS word").where("ok").group_by("word").count()
    counts.write(Sink(), name="out")
    assert edges(flow) == {
        "lines>select": "identity",
        "select>where": "identity",
        "where>count": "identity",
        "count>out": "identity",
    }
    built = flow.build()
    assert {name: place.role for name, place in built.flow.processors.items()} == {
        "lines": Role.INPUT,
        "select": Role.INNER,
        "where": Role.INNER,
        "count": Role.INNER,
        "out": Role.OUTPUT,
    }
    assert list(built.sources) == ["lines"]
    assert list(built.sinks) == ["out"]


def test_derived_names_are_numbered_and_given_ones_are_kept() -> None:
    flow = fk.Dataflow("names")
    lines = flow.read(Source())
    made = [lines.select("a"), lines.select("b"), lines.select("c", name="mine"), lines.select("d")]
    assert [stream.name for stream in made] == ["select", "select-2", "mine", "select-3"]
    assert lines.process(Keeper()).name == "keeper"


def test_several_edges_between_two_nodes_are_told_apart_by_their_ports() -> None:
    flow = fk.Dataflow("twice")
    lines = flow.read(Source(), name="lines")
    lines.join(lines, on="a", name="both").write(Sink(), name="out")
    built = flow.build()
    assert built.ports == {"lines>both:0": 0, "lines>both:1": 1, "both>out": 0}
    assert built.routes == {
        "lines": (("lines>both:0", "lines>both:1"),),
        "both": (("both>out",),),
        "out": (),
    }


def test_output_ports_have_routes_of_their_own() -> None:
    flow = fk.Dataflow("two")
    first = flow.read(Source(), name="lines").process(Two(), name="split")
    first.write(Sink(), name="a")
    first.port(1).write(Sink(), name="b")
    assert flow.build().routes["split"] == (("split>a",), ("split>b",))


def test_a_loop_has_a_beginning_a_way_around_and_a_way_out() -> None:
    flow = fk.Dataflow("loop")
    start = flow.read(Source(), name="start")
    start.iterate(lambda inner: (inner.where("more"), inner), order="product").write(Sink())
    assert edges(flow) == {
        "start>loop": "enter",
        "loop-around>loop": "feedback",
        "loop>where": "identity",
        "where>loop-around": "identity",
        "loop>loop-out": "leave",
        "loop-out>write": "identity",
    }
    nodes = flow.build().nodes
    assert nodes["where"].domain == Structured(2, Order.PRODUCT)
    assert nodes["loop-out"].domain == EPOCH
    assert nodes["loop"].inputs == (Input("start", "enter"), Input("loop-around", "around"))


def test_loops_nest_and_each_has_an_order_of_its_own() -> None:
    flow = fk.Dataflow("nested")

    def outer(inner: Stream) -> Stream:
        return inner.iterate(lambda deep: deep.where("more"), name="deep", order="product")

    flow.read(Source()).iterate(outer, name="wide").write(Sink())
    nodes = flow.build().nodes
    assert nodes["deep"].domain == Structured(3, Order.PRODUCT)
    assert nodes["deep-out"].domain == nodes["wide"].domain == Structured(2, Order.LEX)


def test_a_stream_from_far_outside_enters_loop_by_loop() -> None:
    flow = fk.Dataflow("far")
    far = flow.read(Source(), name="far")

    def outer(inner: Stream) -> Stream:
        return inner.iterate(lambda deep: deep.union(far), name="deep")

    flow.read(Source(), name="near").iterate(outer, name="wide").write(Sink())
    assert edges(flow)["far>enter"] == "enter"
    assert edges(flow)["enter>union"] == "enter"


def test_what_is_written_outside_stays_outside() -> None:
    flow = fk.Dataflow("outside")
    start = flow.read(Source())
    start.iterate(lambda inner: inner.union(start.where("a"))).write(Sink())
    assert flow.build().nodes["where"].depth == 1


def test_a_join_in_a_loop_repeats_the_side_from_outside() -> None:
    flow = fk.Dataflow("repeat")
    links = flow.read(Source(), name="links")
    start = flow.read(Source(), name="start")
    start.iterate(lambda inner: inner.join(links, on="a")).write(Sink())
    found = edges(flow)
    assert found["links>repeat"] == "enter"
    assert found["repeat>repeat"] == "feedback"
    assert found["loop>repeat"] == found["repeat>join"] == "identity"


def test_a_loop_whose_body_fails_leaves_nothing_behind() -> None:
    flow = fk.Dataflow("fails")
    start = flow.read(Source(), name="start")

    def body(inner: Stream) -> Stream:
        inner.where("a")
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        start.iterate(body)
    assert list(flow.nodes) == ["start"]
    start.iterate(lambda inner: inner, name="loop").write(Sink())
    assert "loop" in flow.build().nodes


def test_a_refused_join_leaves_nothing_behind() -> None:
    flow = fk.Dataflow("refused")
    start = flow.read(Source(), name="start")
    with pytest.raises(DefinitionError, match="taken"):
        start.join(start, on="a", how="full", name="start")
    with pytest.raises(DefinitionError, match="taken"):
        start.join_latest(start, on="a", name="start")
    assert list(flow.nodes) == ["start"]


def test_latest_couples_an_output_with_an_input() -> None:
    flow = fk.Dataflow("latest")
    slow = flow.read(Source(), name="slow").where("model")
    fast = flow.read(Source(), name="fast").where("query")
    fast.join_latest(slow, on="a").write(Sink(), name="answers")
    built = flow.build()
    (bridge,) = built.flow.latest.values()
    assert (bridge.slow, bridge.versions, bridge.fast) == (
        "where-versions-out",
        "where-versions",
        "fast",
    )
    assert list(built.sources) == ["slow", "fast"]
    assert list(built.sinks) == ["answers"]
    assert built.nodes["where-versions-out"].processor is not None
    assert built.nodes["where-versions"].processor is None


# Policies.


def made(write: Callable[[Dataflow, Stream], object], name: str) -> Node:
    """The node that ``write`` adds to a flow."""
    flow = fk.Dataflow("one")
    write(flow, flow.read(Source(), name="in"))
    return flow.build().nodes[ProcessorId(name)]


@pytest.mark.parametrize(
    ("write", "policy"),
    [
        (lambda f, s: s.where("a", name="x"), fk.ephemeral()),
        (lambda f, s: s.join(s, on="a", name="x"), fk.ephemeral()),
        (lambda f, s: s.group_by("a").count(name="x"), fk.lazy(every=1)),
        (lambda f, s: s.group_by("a").count(name="x", policy=fk.lazy(every=5)), fk.lazy(every=5)),
        (lambda f, s: s.process(Keeper(), name="x"), fk.lazy(every=1)),
        (lambda f, s: s.process(Own(), name="x"), fk.lazy(every=1)),
        (lambda f, s: s.process(Own(), name="x", policy=fk.eager()), fk.eager()),
        (lambda f, s: s.process(Keeper(), name="x", policy=fk.at_least_once()), fk.at_least_once()),
        (lambda f, s: f.read(Source(), name="x"), fk.lazy(every=1)),
        (lambda f, s: f.read(Source(replayable=False), name="x"), fk.batch()),
        (lambda f, s: f.read(Source(), name="x", policy=fk.eager()), fk.eager()),
        (lambda f, s: s.write(Sink(), name="x"), fk.lazy(every=1)),
        (lambda f, s: s.write(Sink(exactly_once=False), name="x"), fk.at_least_once()),
        (lambda f, s: f.latest(s, s, name="x"), fk.batch()),
    ],
)
def test_defaults_suit_what_is_done(
    write: Callable[[Dataflow, Stream], object], policy: Policy
) -> None:
    assert made(write, "x").policy == policy


def test_a_region_sets_the_policy_of_operators_and_regions_nest() -> None:
    flow = fk.Dataflow("regions")
    start = flow.read(Source(), name="start")
    with flow.policy(fk.lazy(every=7)):
        start.group_by("a").count(name="outer")
        with flow.policy(fk.batch()):
            start.where("a", name="inner")
            start.group_by("a").count(name="own", policy=fk.eager())
        start.where("a", name="again")
    start.where("a", name="after")
    policies = {name: node.policy for name, node in flow.build().nodes.items()}
    assert policies == {
        "start": fk.lazy(),
        "outer": fk.lazy(every=7),
        "inner": fk.batch(),
        "own": fk.eager(),
        "again": fk.lazy(every=7),
        "after": fk.ephemeral(),
    }


def test_a_region_reaches_sources_and_sinks_only_where_it_fits() -> None:
    flow = fk.Dataflow("ends")
    with flow.policy(fk.ephemeral()):
        flow.read(Source(), name="a").write(Sink(), name="b")
    with flow.policy(fk.eager()):
        flow.read(Source(), name="c").write(Sink(), name="d")
        flow.read(Source(), name="e").write(Sink(exactly_once=False), name="f")
    with flow.policy(fk.lazy(every=9)):
        flow.read(Source(replayable=False), name="g")
    policies = {name: node.policy for name, node in flow.build().nodes.items()}
    assert policies == {
        "a": fk.lazy(),
        "b": fk.lazy(),
        "c": fk.eager(),
        "d": fk.eager(),
        "e": fk.eager(),
        "f": fk.at_least_once(),
        "g": fk.batch(),
    }


def test_one_output_edge_can_be_logged_in_addition() -> None:
    flow = fk.Dataflow("log")
    kept = flow.read(Source(), name="in").process(
        Keeper(), name="p", policy=fk.lazy().logging("p>out")
    )
    kept.write(Sink(), name="out")
    assert flow.build().flow.processors[kept.name].policy.logs(EdgeId("p>out"))


def test_a_limit_is_a_number_of_rows_or_more() -> None:
    flow = fk.Dataflow("limits")
    flow.read(Source(), name="rows", limit=10)
    flow.read(Source(), name="files", limit=Limit(files=2))
    flow.read(Source(), name="all")
    limits = {name: node.limit for name, node in flow.build().nodes.items()}
    assert limits == {"rows": Limit(rows=10), "files": Limit(files=2), "all": Limit()}


def test_a_flow_can_grow_after_it_was_built() -> None:
    flow = fk.Dataflow("grows")
    start = flow.read(Source(), name="start")
    before = flow.build()
    start.write(Sink(), name="out")
    assert list(before.nodes) == ["start"]
    assert list(flow.build().nodes) == ["start", "out"]


def test_nodes_know_where_they_were_written() -> None:
    flow = fk.Dataflow("where")
    flow.read(Source(), name="start").where("a").write(Sink(), name="out")
    for node in flow.build().nodes.values():
        assert node.location.startswith("tests/unit/dataflow/test_building.py:")
