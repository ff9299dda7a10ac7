"""A flow explains itself: policies, edges, where plans are cut, and what is at least once."""

from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.dataflow import Dataflow
from falkirk.dataflow.explanation import cuts, fused, policy_text, tainted


def counting() -> Dataflow:
    flow = fk.Dataflow("counting")
    words = flow.read(Source(), name="words")
    long = words.where("length(word) > 3", name="long", policy=fk.batch())
    long.group_by("word").count(name="counts", policy=fk.lazy(every=5)).write(Sink(), name="out")
    return flow


def test_the_text_names_everything() -> None:
    lines = [line for line in counting().explain().splitlines() if line]
    places = [line for line in lines if not line.startswith("    ")]
    assert [line.rsplit("  ", 1)[0] for line in places] == [
        "flow counting",
        "words  Source  lazy(every=1)",
        "long  Transform  batch()",
        "counts  RunningAggregate  lazy(every=5)",
        "out  Sink  lazy(every=1)",
    ]
    assert all("test_explanation.py:" in line for line in places[1:])
    assert "    port 0 from words" in lines
    assert "    plan is cut: long>counts logged" in lines


def test_plans_are_cut_where_rows_are_needed() -> None:
    flow = fk.Dataflow("cuts")
    start = flow.read(Source(), name="in")
    shared = start.where("a", name="shared")
    shared.select("b", name="fused").group_by("b").count(name="counts")
    shared.iterate(lambda inner: inner.where("c"), name="loop").write(Sink(), name="out")
    built = flow.build()
    found = {name: cuts(built, node) for name, node in built.nodes.items()}
    assert found["in"] == found["fused"] == found["loop"] == found["loop-out"] == []
    assert found["shared"] == ["2 receivers share its rows"]
    assert found["counts"] == ["RunningAggregate evaluates"]
    assert found["loop-around"] == ["Around evaluates"]
    assert found["out"] == ["an output stages its rows"]


def test_a_job_is_shown_where_its_plan_is_cut() -> None:
    flow = fk.Dataflow("jobs")
    left, right = flow.read(Source(), name="left"), flow.read(Source(), name="right")
    shared = left.where("a", name="shared")
    other = right.select("b", name="other")
    shared.join(other, on="b", name="joined").write(Sink(), name="out")
    counts = shared.select("b", name="picked").group_by("b").count(name="counts")
    counts.write(Sink(), name="totals")
    built = flow.build()
    assert {name: fused(built, node) for name, node in built.nodes.items()} == {
        "left": "",
        "right": "",
        "shared": "left → shared",
        "other": "",
        "joined": "",
        "out": "([shared], right → other) → joined → out",
        "picked": "",
        "counts": "[shared] → picked → counts",
        "totals": "",
    }
    assert "    one job: left → shared" in flow.explain().splitlines()


def test_a_loop_ends_the_text_of_a_job() -> None:
    flow = fk.Dataflow("loops")
    start = flow.read(Source(), name="in")
    start.iterate(lambda inner: (inner.where("c", name="c"), inner), name="loop").write(
        Sink(), name="out"
    )
    built = flow.build()
    assert fused(built, built.nodes["loop-around"]) == "[loop] → c → loop-around"
    assert fused(built, built.nodes["loop"]) == "(in, [loop-around]) → loop"


def test_all_behind_an_at_least_once_processor_is_tainted() -> None:
    flow = fk.Dataflow("taint")
    start = flow.read(Source(), name="in")
    loose = start.where("a", name="loose", policy=fk.at_least_once())
    loose.group_by("a").count(name="counts").write(Sink(), name="out")
    start.join_latest(loose, on="a", name="joined").write(Sink(), name="answers")
    start.write(Sink(), name="clean")
    built = flow.build()
    assert tainted(built) == {
        "loose",
        "counts",
        "out",
        "loose-versions-out",
        "loose-versions",
        "joined",
        "answers",
    }
    marked = [line for line in flow.explain().splitlines() if "tainted" in line]
    assert len(marked) == 7


def test_a_flow_that_writes_nothing_says_so() -> None:
    flow = fk.Dataflow("mute")
    flow.read(Source())
    assert flow.explain().endswith("Nothing is written: no stream ends in a sink.")


def test_loops_and_bridges_are_shown() -> None:
    flow = fk.Dataflow("shown")
    start = flow.read(Source(), name="in")
    start.iterate(lambda inner: inner, order="product").write(Sink())
    start.latest(start, name="versions")
    text = flow.explain()
    assert "    in 1 loop, times in product order" in text
    assert "    port 1 from loop-around (around)" in text
    assert "    versions of versions-out at the epochs of in" in text


def test_sequences_are_shown() -> None:
    flow = fk.Dataflow("sequences")
    numbered = flow.read(Source(), name="in").in_sequence(name="numbers")
    kept = numbered.where("a", name="kept", policy=fk.snapshot(every=3, region="left"))
    kept.windows(count=3, name="back", policy=fk.lazy()).write(Sink(), name="out")
    lines = flow.explain().splitlines()[2:]
    places = [n for n, line in enumerate(lines) if not line.startswith("    ")]
    told = {
        lines[a].split()[0]: [line.strip() for line in lines[a + 1 : b]]
        for a, b in zip(places, [*places[1:], len(lines)], strict=True)
    }
    assert told == {
        "in": [],
        "numbers": [
            "port 0 from in",
            "plan is cut: InSequence evaluates",
            "one job: in → numbers",
        ],
        "kept": [
            "one message at a time, in order",
            "port 0 from numbers (numbered)",
            "plan is cut: a snapshot has what is under way",
        ],
        "back": [
            "one message at a time, in order",
            "port 0 from kept",
            "plan is cut: back>out logged",
        ],
        "out": ["port 0 from back (windows)", "plan is cut: an output stages its rows"],
    }
    assert "kept  Transform  snapshot(every=3, region='left')" in "\n".join(lines)


def test_a_policy_is_shown_as_it_is_written() -> None:
    assert policy_text(fk.at_least_once()) == "at_least_once()"
    assert policy_text(fk.lazy(seconds=1.5)) == "lazy(seconds=1.5)"
    assert policy_text(fk.lazy(when=lambda count, seconds: True)) == "lazy(when=…)"
    assert policy_text(fk.eager().logging("a>b")) == "eager() logging a>b"  # type: ignore[arg-type]
