"""``falkirk check``: promises, findings and blast radius of flows that are only described."""

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.inputs.draws import Shape
from benchmarks.policies import tables
from benchmarks.policies.cell import Outcome
from benchmarks.policies.flow import WAYS
from tests.unit.cli.stories import Story, falkirk, shop
from tests.unit.dataflow.ends import Pair, Sink, Source

import falkirk as fk
from falkirk.core.errors import DefinitionError
from falkirk.core.machine.boundary import whole_epochs
from falkirk.dataflow import Dataflow
from falkirk.differential import collection
from falkirk.inspection.checking import Checked, check_flow
from falkirk.inspection.look import look_at
from falkirk.inspection.measured import Fact, Measured, read
from falkirk.inspection.supposing import solution_without
from falkirk.lindi import Rows


def checked(flow: Dataflow) -> Checked:
    return check_flow(flow.build())


def codes(flow: Dataflow) -> list[tuple[str, str]]:
    return [(finding.code, finding.processor) for finding in checked(flow).findings]


def loose(sink: Sink | None = None, policy: Any = None) -> Dataflow:
    """A filter that is at least once, a sum behind it, and a sink."""
    flow = fk.Dataflow("loose")
    read = flow.read(Source(), name="in")
    kept = read.where("a", name="kept", policy=fk.at_least_once())
    kept.group_by("a").agg(n="count(*)", name="sums").write(
        sink or Sink(), name="out", policy=policy
    )
    return flow


def test_an_output_behind_exact_ones_is_exactly_once() -> None:
    (promise,) = checked(shop()).guarantees
    assert (promise.output, promise.promise) == ("written", "exactly once")


def test_a_sink_that_cannot_recognise_is_at_least_once_because_of_itself() -> None:
    flow = fk.Dataflow("end")
    flow.read(Source(), name="in").write(Sink(exactly_once=False), name="out")
    (promise,) = checked(flow).guarantees
    assert promise.promise == "at least once"
    assert "cannot recognise" in promise.because


@pytest.mark.parametrize(
    ("sink", "claim"),
    [
        (Sink(), "that Sink recognises what it has written is its own claim"),
        (fk.Function(print, idempotent=True), "what idempotent=True claims"),
        (fk.ParquetSink("out"), ""),
        (fk.TableSink("sqlite:///out.db", "out"), ""),
    ],
    ids=["own", "function", "parquet", "table"],
)
def test_what_falkirk_cannot_answer_for_is_told_as_a_claim(sink: Any, claim: str) -> None:
    flow = fk.Dataflow("claims")
    flow.read(Source(), name="in").write(sink, name="out")
    (promise,) = checked(flow).guarantees
    assert (promise.promise, promise.claimed) == ("exactly once", bool(claim))
    assert promise.because.startswith("staged, and written when it is final")
    assert claim in promise.because
    assert ("falkirk.testing.contracts.SinkContract tests" in promise.because) == bool(claim)


def test_of_a_sink_for_several_streams_no_suite_is_named() -> None:
    flow = fk.Dataflow("pair")
    read = flow.read(Source(), name="in")
    flow.write_together({"a": read, "b": read}, Pair(), name="out")
    (promise,) = checked(flow).guarantees
    assert promise.claimed
    assert promise.because.endswith("Pair recognises what it has written is its own claim")


def test_who_is_at_least_once_claims_nothing() -> None:
    assert not any(each.claimed for each in checked(loose()).guarantees)
    assert not any(each.claimed for each in checked(loose(Sink(exactly_once=False))).guarantees)


def test_an_exact_sink_behind_a_loose_processor_is_loose_because_of_that() -> None:
    (promise,) = checked(loose()).guarantees
    assert promise.promise == "at least once"
    assert "kept" in promise.because


def test_what_is_exact_behind_what_is_not_is_found() -> None:
    assert ("C101", "out") in codes(loose())
    assert ("C102", "sums") in codes(loose())


def test_a_loose_sink_behind_it_is_no_finding() -> None:
    assert ("C101", "out") not in codes(loose(Sink(exactly_once=False)))


def test_a_log_of_what_can_be_read_again() -> None:
    assert ("C201", "orders") in codes(shop(orders=fk.batch()))
    assert ("C201", "orders") not in codes(shop())


def test_a_source_that_gives_its_rows_once() -> None:
    flow = fk.Dataflow("once")
    flow.read(Source(replayable=False), name="in").write(Sink(), name="out")
    assert codes(flow) == [("C402", "in")]


def test_eager_before_outputs_that_repeat_anyway() -> None:
    def flow(sink: Sink) -> Dataflow:
        made = fk.Dataflow("eager")
        counted = (
            made.read(Source(), name="in")
            .group_by("a")
            .agg(n="count(*)", name="sums", policy=fk.eager())
        )
        counted.write(sink, name="out")
        return made

    assert ("C203", "sums") in codes(flow(Sink(exactly_once=False)))
    assert ("C203", "sums") not in codes(flow(Sink()))


def test_what_reaches_no_sink() -> None:
    flow = shop()
    flow.read(Source(), name="lonely")
    assert ("C204", "lonely") in codes(flow)
    assert ("C204", "sold") not in codes(flow)


def test_a_flow_without_a_sink() -> None:
    flow = fk.Dataflow("nothing")
    flow.read(Source(), name="in")
    assert codes(flow) == [("C401", "")]


def test_totals_by_a_key_grow() -> None:
    (finding,) = checked(shop()).findings
    assert (finding.severity, finding.code, finding.processor) == ("note", "C301", "totals")
    assert "each value of item" in finding.words


def test_a_join_of_each_time_keeps_nothing() -> None:
    """It has the name of the join of collections, which keeps both of them."""
    flow = fk.Dataflow("joined")
    read = flow.read(Source(), name="in")
    read.join(flow.read(Source(), name="other"), on="a", name="both").write(Sink(), name="out")
    assert not any(code == "C301" for code, _ in codes(flow))


def test_what_keeps_a_collection_is_found() -> None:
    flow = fk.Dataflow("collections")
    one, other = (collection(flow.read(Source(), name=name)) for name in ("one", "other"))
    joined = one.join(other, "a", name="both").consolidate(name="tidied")
    counted = joined.group_by("a").count(name="counts")
    counted.versions(name="versions").write(Sink(), name="out")
    found = {f.processor: f.words for f in checked(flow).findings if f.code == "C301"}
    assert set(found) == {"both", "counts", "versions"}, "the sum of each time is kept by nobody"
    assert all("what its collection holds" in words for words in found.values())


class Keeping(fk.Processor):
    """Keeps what comes, and leaves it at that."""


class Tidy(Keeping):
    """Keeps the newest."""

    def consolidate(self, ctx: Any, batches: Any) -> Any:
        return batches[-1]


class Forgetful(Keeping):
    """Keeps nothing between times."""

    stateless = True


class Opaque(Keeping):
    """Keeps its state in itself."""

    opaque = True


class Join(Tidy):
    """Has the name of another one."""


def test_a_processor_of_the_users_whose_state_only_grows() -> None:
    flow = fk.Dataflow("own")
    read = flow.read(Source(), name="in")
    for kind in (Keeping, Tidy, Forgetful, Opaque, Join):
        read.process(kind(), name=kind.__name__.lower()).write(Sink())
    (found,) = (f for f in checked(flow).findings if f.code == "C301")
    assert (found.severity, found.processor) == ("note", "keeping")
    assert "Keeping has no consolidate, so older batches are united" in found.words
    assert "stateless = True" in found.next


def test_operators_of_falkirks_own_that_keep_little_are_no_finding() -> None:
    flow = fk.Dataflow("bounded")
    read = flow.read(Source(), name="in")
    fast = flow.read(Source(), name="fast")
    fast.join_latest(read, on="a").write(Sink(), name="newest")
    Rows(read).window(epochs=3).stream.write(Sink(), name="windows")
    assert not any(code == "C301" for code, _ in codes(flow))


def test_intervals_that_seldom_meet() -> None:
    def flow(left: int, right: int) -> Dataflow:
        made = fk.Dataflow("intervals")
        first = (
            made.read(Source(), name="in")
            .group_by("a")
            .count(name="left", policy=fk.lazy(every=left))
        )
        first.group_by("a").count(name="right", policy=fk.lazy(every=right)).write(
            Sink(), name="out"
        )
        return made

    assert any(code == "C303" for code, _ in codes(flow(4, 6)))
    assert not any(code == "C303" for code, _ in codes(flow(3, 6)))


def test_a_log_behind_a_log_saves_only_what_is_stateless() -> None:
    def flow(first: Any) -> Dataflow:
        made = fk.Dataflow("logs")
        read = made.read(Source(), name="in", policy=first)
        kept = read.where("a", name="kept", policy=fk.batch())
        kept.group_by("a").count(name="sums", policy=fk.lazy(every=4)).write(Sink(), name="out")
        return made

    assert ("C202", "kept") in codes(flow(fk.batch()))
    assert ("C202", "kept") not in codes(flow(fk.lazy())), "the input would be read again"


@pytest.mark.parametrize("name", ["orders", "sold", "totals", "written"])
@pytest.mark.parametrize(
    ("totals", "orders"),
    [(fk.lazy(every=3), fk.lazy()), (fk.lazy(every=3), fk.batch()), (fk.eager(), fk.lazy())],
    ids=["lazy", "logged", "eager"],
)
def test_the_blast_radius_is_what_the_solver_says_of_a_real_run(
    tmp_path: Path, name: str, totals: Any, orders: Any
) -> None:
    """A run of 5 epochs is just before its second checkpoint, as the steady state of every=3.

    Only who goes back is compared, for the open epoch is open in the steady state alone.
    """
    flow = shop(totals, orders)
    blasts = {
        b.processor: {s.processor: s.epochs for s in b.setbacks} for b in checked(flow).blasts
    }
    run = Story(flow, tmp_path / "state").epochs(5)
    run.stop()
    look = look_at("state")
    solution = solution_without(look, [p for p in look.flow.processors if p == name])
    back = {
        p
        for p, frontier in solution.frontiers.items()
        if not frontier.is_top and whole_epochs(frontier) < 4
    }
    assert back <= set(blasts[name])


def test_a_firewall_limits_the_blast() -> None:
    without = {b.processor: {s.processor for s in b.setbacks} for b in checked(shop()).blasts}
    behind = {
        b.processor: {s.processor for s in b.setbacks}
        for b in checked(shop(orders=fk.batch())).blasts
    }
    assert "orders" in without["totals"]
    assert "orders" not in behind["totals"]


def test_an_eager_processor_protects_those_before_it() -> None:
    blasts = {
        b.processor: {s.processor for s in b.setbacks} for b in checked(shop(fk.eager())).blasts
    }
    assert blasts["written"] <= {"written"}
    assert "orders" not in blasts["written"]


APP = """
import falkirk as fk
from tests.unit.cli.stories import {flow}

flow = {flow}()
"""


FACTS = Measured(
    "1.0",
    "4.3",
    "a machine",
    "2026-01-01",
    "a count",
    {
        "lazy(every=1)": Fact(1.25, 900, 120, 80),
        "lazy(every=10)": Fact(1.0, 600, 900, 400),
        "eager()": Fact(1.3, 900, 110, 60),
        "history()": Fact(1.9, 4000, 150, 70),
    },
)


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        (
            fk.eager(),
            "eager() costs about 1.3× of lazy(every=10), and saves up to 9 epochs of doing again;"
            " results after 110 ms instead of 900 ms",
        ),
        (
            fk.lazy(every=8),
            "lazy(every=8) costs about 0.8× of eager(), and does up to 7 epochs more again;"
            " results after 900 ms instead of 110 ms",
        ),
        (
            fk.history(),
            "history() costs about 1.5× of lazy(every=1); results after 150 ms instead of 120 ms",
        ),
    ],
    ids=["eager", "lazy", "history"],
)
def test_what_another_policy_would_cost_and_save(policy: fk.Policy, words: str) -> None:
    """Costs were measured; what is done again is what the solver says of this very flow."""
    found = check_flow(shop(policy).build(), FACTS)
    assert [(each.processor, each.words) for each in found.advice] == [("totals", words)]
    assert "a count" in found.basis


@pytest.mark.parametrize("policy", [fk.at_least_once(), fk.lazy(seconds=3)], ids=["loose", "clock"])
def test_of_what_was_not_measured_nothing_is_said(policy: fk.Policy) -> None:
    found = check_flow(shop(policy).build(), FACTS)
    assert (found.advice, found.basis) == ((), "")


def test_nothing_is_advised_where_nothing_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("falkirk.inspection.checking.measured", lambda: None)
    found = check_flow(shop(fk.eager()).build())
    assert (found.advice, found.basis) == ((), "")


def test_facts_are_read_as_the_benchmark_writes_them() -> None:
    centre, outcome = Shape(), Outcome(10, seconds=2.0, latencies=[0.1], bytes=500, caught_up=0.3)
    runs = {(way, centre, pace): [outcome] for way in WAYS for pace in (None, 0.2)}
    where = {"falkirk": "1", "spark": "4", "machine": "m", "date": "d", "work": "w"}
    facts = read(json.dumps({**where, "ways": tables.facts(runs, centre, 0.2)}))
    for policy in (fk.lazy(), fk.lazy(every=10), fk.eager(), fk.history()):
        assert facts.fact(policy) == Fact(1.0, 50, 100, 300)


def test_exit_status_and_json(tmp_path: Path) -> None:
    Path("app.py").write_text(APP.format(flow="shop"))
    result = falkirk("check", "app.py", "--json")
    assert result.exit_code == 0
    found = json.loads(result.output)
    assert set(found) == {"flow", "guarantees", "findings", "blasts", "advice", "basis"}
    assert found["findings"][0]["code"] == "C301"
    (promise,) = found["guarantees"]
    assert set(promise) == {"output", "kind", "promise", "because", "location", "claimed"}
    assert (promise["promise"], promise["claimed"]) == ("exactly once", True)
    assert falkirk("check", "app.py", "--strict").exit_code == 0, "notes are never errors"


def test_two_outputs_in_one_folder_are_a_mistake(tmp_path: Path) -> None:
    Path("app.py").write_text(
        "import falkirk as fk\nfrom tests.unit.dataflow.ends import Source\n"
        "flow = fk.Dataflow('two')\nrows = flow.read(Source(), name='in')\n"
        "rows.write(fk.ParquetSink('o'), name='w')\nrows.write(fk.ParquetSink('o'), name='w2')\n"
    )
    result = falkirk("check", "app.py")
    assert isinstance(result.exception, DefinitionError)
    assert "app.py:6: 'w2' writes to" in str(result.exception)
    assert "'w' (app.py:5)" in str(result.exception)


def test_warnings_are_errors_if_asked(tmp_path: Path) -> None:
    Path("app.py").write_text(
        "import falkirk as fk\nfrom tests.unit.dataflow.ends import Source\n"
        "flow = fk.Dataflow('nothing')\nflow.read(Source(), name='in')\n"
    )
    assert falkirk("check", "app.py").exit_code == 0
    assert falkirk("check", "app.py", "--strict").exit_code == 1
    assert "nothing is written" in falkirk("check", "app.py").output


def test_loops_bridges_and_sequences_are_looked_at() -> None:
    flow = fk.Dataflow("rich")
    read = flow.read(Source(), name="in")
    read.iterate(lambda inner: inner.where("a"), name="loop").write(Sink(), name="looped")
    fast = flow.read(Source(), name="fast")
    fast.join(read.latest(fast, name="versions"), on="a").write(Sink(), name="answers")
    numbered = read.in_sequence(name="numbers").where("a", name="kept", policy=fk.lazy())
    numbered.windows(count=1, name="back").write(Sink(), name="windowed")
    found = checked(flow)
    assert {g.promise for g in found.guarantees} == {"exactly once"}
    assert not [f for f in found.findings if f.code == "C302"]
    blasts = {b.processor: {s.processor for s in b.setbacks} for b in found.blasts}
    assert "answers" not in blasts["looped"]


def test_answers_from_behind_windows() -> None:
    def flow(answered_late: bool) -> Dataflow:
        made, server = fk.Dataflow("answers"), fk.HttpRequests("n BIGINT")
        read = made.read(server, name="requests")
        late = read.in_sequence(name="numbers").windows(count=5, name="fives")
        (late if answered_late else read).write(server.answers(), name="answers")
        (read if answered_late else late).write(Sink(), name="out")
        return made

    assert ("C403", "answers") in codes(flow(answered_late=True))
    assert not any(code == "C403" for code, _ in codes(flow(answered_late=False)))
