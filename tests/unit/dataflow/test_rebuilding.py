"""A flow that is rebuilt from its description decides the same recoveries."""

import json

import falkirk as fk
from falkirk.connectors import Numbers, ParquetSink
from falkirk.dataflow import describe
from falkirk.dataflow.rebuilding import flow_of


def example() -> fk.Dataflow:
    flow = fk.Dataflow("example")
    numbers = flow.read(Numbers(rows=10), name="numbers", policy=fk.batch())
    looped = numbers.iterate(lambda inner: (inner.where("value > 0"), inner), name="loop")
    totals = looped.group_by("value").count(policy=fk.eager())
    totals.write(ParquetSink("out"), name="out")
    fast = flow.read(Numbers(), name="fast")
    fast.join_latest(totals, on="value").write(ParquetSink("joined"), name="joined")
    numbered = numbers.in_sequence().where("value > 1", policy=fk.snapshot(every=3))
    numbered.windows(count=2, policy=fk.lazy()).write(ParquetSink("windows"), name="windowed")
    return flow


def test_the_same_processors_edges_and_bridges() -> None:
    blueprint = example().build()
    rebuilt = flow_of(json.loads(json.dumps(describe(blueprint))))
    flow = blueprint.flow
    assert rebuilt.graph.domains == flow.graph.domains
    assert list(rebuilt.graph.edges) == list(flow.graph.edges)
    assert rebuilt.latest == flow.latest
    for p, processor in flow.processors.items():
        assert rebuilt.processors[p].role is processor.role
        assert rebuilt.processors[p].policy.regime is processor.policy.regime
        assert rebuilt.processors[p].policy.log == processor.policy.log
        assert rebuilt.restores_anywhere(p) == flow.restores_anywhere(p)
        assert rebuilt.numbered(p) == flow.numbered(p)
    assert rebuilt.windows() == flow.windows()


def test_a_rebuilt_flow_has_the_same_description_of_its_edges() -> None:
    blueprint = example().build()
    rebuilt = flow_of(describe(blueprint))
    for name, edge in blueprint.flow.graph.edges.items():
        assert type(rebuilt.graph.edges[name].projection) is type(edge.projection)
