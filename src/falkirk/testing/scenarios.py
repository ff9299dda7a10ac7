"""Random flows with random policies, for the simulator."""

from dataclasses import replace
from random import Random
from typing import Protocol

from falkirk.core.bridges import Recorded
from falkirk.core.domain import EPOCH, Sequence, Structured
from falkirk.core.graph import Edge
from falkirk.core.machine.flow import Flow, Processor, Role
from falkirk.core.order import Order
from falkirk.core.policy import (
    Regime,
    at_least_once,
    batch,
    eager,
    ephemeral,
    history,
    lazy,
    snapshot,
)
from falkirk.core.projection import Enter, Feedback, Leave
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.testing.building import Inputs, Maker
from falkirk.testing.crossing import Account, Forward, Scatter, Turn, Window
from falkirk.testing.logic import Buffer, Delay, Map, Recite, Stage, Tag, Total
from falkirk.testing.world import Scenario


class Annex(Protocol):
    """Adds something to a flow, with random numbers of its own."""

    def __call__(
        self, maker: Maker, random: Random, ends: list[ProcessorId], inputs: Inputs
    ) -> None: ...


def random_scenario(seed: int) -> Scenario:
    """A small flow: one or two inputs, a few processors, perhaps a loop, one or two outputs.

    Every annex has its own random numbers, so that a new one, put at the end, leaves the flows of
    most seeds alone.
    """
    maker = Maker(Random(seed))
    ends, inputs = maker.base()
    lots = Random(f"annexes of {seed}")
    for name, (chance, annex) in ANNEXES.items():
        if lots.random() < chance:
            random = maker.random = Random(f"{name} of {seed}")
            annex(maker, random, ends, inputs)
    processors = [each if seed % 4 == 0 else with_rounds(each) for each in maker.processors]
    return Scenario(Flow(processors, maker.edges), maker.logics, inputs)


def with_rounds(processor: Processor) -> Processor:
    """One that saves rounds as often as the store keeps up, not only when time has passed."""
    return replace(processor, policy=replace(processor.policy, round_seconds=0.0))


def add_sequence(maker: Maker, random: Random, ends: list[ProcessorId], inputs: Inputs) -> None:
    """A bridge to sequence numbers and a few processors that count them."""
    bridge = ProcessorId("bridge")
    policy = random.choice((lazy(1), lazy(2), eager(), batch(), history()))
    maker.processors.append(Processor(bridge, EPOCH, policy))
    maker.logics[bridge] = Forward()
    maker.connect(random.choice(ends), bridge)
    last, cut = bridge, snapshot(random.randint(1, 4))
    for i in range(random.randint(0, 3)):
        name = ProcessorId(f"s{i}")
        policy = random.choice((lazy(1), lazy(2), eager(), history(), cut, cut, cut))
        maker.logics[name] = random.choice((Account(), Map()))
        maker.processors.append(Processor(name, Sequence(), policy))
        number(maker, last, name)
        last = name
    name = ProcessorId("numbered")
    policy = random.choice((lazy(1), eager()))
    maker.processors.append(Processor(name, Sequence(), policy, Role.OUTPUT))
    maker.logics[name] = Stage()
    number(maker, last, name)


def add_windows(maker: Maker, random: Random, ends: list[ProcessorId], inputs: Inputs) -> None:
    """From epochs to sequence numbers and, by windows, back to other epochs."""
    source = random.choice(list(inputs))
    inputs[source].append([(("end", 0, 0),)])
    there, back, behind = map(ProcessorId, ("there", "back", "behind"))
    maker.processors += [
        Processor(there, EPOCH, random.choice((lazy(1), lazy(2), eager(), batch()))),
        Processor(back, Sequence(), random.choice((lazy(1), lazy(2), eager(), history()))),
        Processor(behind, EPOCH, random.choice((lazy(1), lazy(2), eager(), history()))),
    ]
    maker.logics |= {there: Forward(), back: Window(random.randint(1, 3)), behind: Total()}
    maker.connect(source, there)
    number(maker, there, back)
    number(maker, back, behind)
    maker.add_output(ProcessorId("windowed"), behind)


def add_nested_loops(maker: Maker, random: Random, ends: list[ProcessorId], inputs: Inputs) -> None:
    """A loop in a loop; each may order its times either way."""
    outer = Structured(2, random.choice(list(Order)))
    inner = Structured(3, random.choice(list(Order)))
    choices = (ephemeral(), lazy(1), lazy(2), eager(), batch(), history())
    start, turn, after, done = map(ProcessorId, ("start", "turn", "after", "done"))
    around, again = EdgeId("around"), EdgeId("again")
    maker.processors += [
        Processor(start, outer, random.choice(choices)),
        Processor(turn, inner, random.choice(choices)),
        Processor(after, outer, random.choice(choices)),
        Processor(done, EPOCH, random.choice(choices)),
    ]
    maker.logics |= {
        start: Map(12),
        turn: Turn(around),
        after: Turn(again, unit=10, refill=-10),
        done: Map(0),
    }
    source = random.choice(ends)
    maker.edges += [
        Edge(EdgeId(f"{source}>start"), source, start, Enter(EPOCH, outer)),
        Edge(EdgeId("start>turn"), start, turn, Enter(outer, inner)),
        Edge(around, turn, turn, Feedback(inner, inner)),
        Edge(EdgeId("turn>after"), turn, after, Leave(inner, outer)),
        Edge(again, after, start, Feedback(outer, outer)),
        Edge(EdgeId("after>done"), after, done, Leave(outer, EPOCH)),
    ]
    maker.add_output(ProcessorId("nested"), done)


def add_meetings(maker: Maker, random: Random, ends: list[ProcessorId], inputs: Inputs) -> None:
    """Times of three coordinates that meet, by twos and by threes, where nothing was sent."""
    outer, inner = Structured(2), Structured(3, random.choice(list(Order)))
    enters, scatter, leaves, apart = map(ProcessorId, ("enters", "scatter", "leaves", "apart"))
    maker.processors += [
        Processor(enters, outer, ephemeral()),
        Processor(scatter, inner, random.choice((lazy(1), eager(), batch()))),
        Processor(leaves, outer, random.choice((ephemeral(), lazy(1)))),
        Processor(apart, EPOCH, random.choice((ephemeral(), lazy(1)))),
    ]
    maker.logics |= {enters: Map(0), scatter: Scatter(), leaves: Map(0), apart: Map(0)}
    meets = maker.add_meeting(scatter, scatter, inner)
    source = random.choice(list(inputs))
    maker.edges += [
        Edge(EdgeId(f"{source}>enters"), source, enters, Enter(EPOCH, outer)),
        Edge(EdgeId("enters>scatter"), enters, scatter, Enter(outer, inner)),
        Edge(EdgeId("meets>leaves"), meets, leaves, Leave(inner, outer)),
        Edge(EdgeId("leaves>apart"), leaves, apart, Leave(outer, EPOCH)),
    ]
    maker.add_output(ProcessorId("meetings"), apart)


def add_repeats(maker: Maker, random: Random, ends: list[ProcessorId], inputs: Inputs) -> None:
    """A branch that is processed at least once."""
    name = ProcessorId("repeats")
    maker.processors.append(Processor(name, EPOCH, at_least_once()))
    maker.logics[name] = random.choice((Map(), Buffer()))
    maker.connect(random.choice(ends), name)
    maker.add_output(ProcessorId("repeated"), name)


def add_careless(maker: Maker, random: Random, ends: list[ProcessorId], inputs: Inputs) -> None:
    """An output that may show again what it has shown."""
    maker.add_output(ProcessorId("careless"), random.choice(ends), at_least_once())


def add_witnesses(maker: Maker, random: Random, ends: list[ProcessorId], inputs: Inputs) -> None:
    """Two who hear the same random tags, and repeat them later: they must agree."""
    marks = ProcessorId("marks")
    policy = random.choice((ephemeral(), ephemeral(), lazy(1), batch(), eager()))
    maker.processors.append(Processor(marks, EPOCH, policy))
    maker.logics[marks] = Tag()
    maker.connect(random.choice(list(inputs)), marks)
    for name in ("first", "second"):
        witness = ProcessorId(name)
        maker.processors.append(Processor(witness, EPOCH, random.choice((lazy(1), eager()))))
        maker.logics[witness] = Recite()
        maker.connect(marks, witness)
        maker.add_output(ProcessorId(f"{name}-says"), witness)


def add_echo(maker: Maker, random: Random, ends: list[ProcessorId], inputs: Inputs) -> None:
    """Sends into the future that are not logged because the policy says so."""
    echo, hears = ProcessorId("echo"), ProcessorId("hears")
    maker.processors += [
        Processor(echo, EPOCH, lazy(random.choice((1, 1, 2)))),
        Processor(hears, EPOCH, random.choice((lazy(1), lazy(2), eager()))),
    ]
    maker.logics |= {echo: Delay(), hears: Buffer()}
    maker.connect(random.choice(list(inputs)), echo)
    maker.connect(echo, hears)
    maker.add_output(ProcessorId("heard"), hears)


def log_an_edge(maker: Maker, random: Random, ends: list[ProcessorId], inputs: Inputs) -> None:
    """Logs one output edge of a processor that would not log it."""
    position = random.randrange(len(maker.processors))
    chosen = maker.processors[position]
    edges = [edge.name for edge in maker.edges if edge.source == chosen.name]
    if edges and chosen.policy.regime in (Regime.EPHEMERAL, Regime.LAZY):
        policy = chosen.policy.logging(random.choice(edges))
        maker.processors[position] = replace(chosen, policy=policy)


def add_dead_end(maker: Maker, random: Random, ends: list[ProcessorId], inputs: Inputs) -> None:
    """What leads to no output: steps that end, or a loop without a way out."""
    choices = (ephemeral(), ephemeral(), ephemeral(), batch(), lazy(1))
    last = random.choice(ends)
    for i in range(random.randint(0, 2)):
        name = ProcessorId(f"lost{i}")
        maker.processors.append(Processor(name, EPOCH, random.choice(choices)))
        maker.logics[name] = Map()
        maker.connect(last, name)
        last = name
    if random.random() < 0.7:
        circle, around = ProcessorId("circle"), EdgeId("circles")
        domain = Structured(2, random.choice(list(Order)))
        maker.processors.append(Processor(circle, domain, random.choice(choices)))
        maker.logics[circle] = Turn(around)
        maker.edges += [
            Edge(EdgeId(f"{last}>circle"), last, circle, Enter(EPOCH, domain)),
            Edge(around, circle, circle, Feedback(domain, domain)),
        ]


def number(maker: Maker, source: ProcessorId, target: ProcessorId) -> None:
    """An edge along which messages are counted."""
    maker.edges.append(Edge(EdgeId(f"{source}>{target}"), source, target, Recorded()))


ANNEXES: dict[str, tuple[float, Annex]] = {
    "sequence": (0.25, add_sequence),
    "windows": (0.15, add_windows),
    "nested": (0.08, add_nested_loops),
    "meetings": (0.06, add_meetings),
    "repeats": (0.1, add_repeats),
    "careless": (0.15, add_careless),
    "witnesses": (0.15, add_witnesses),
    "echo": (0.2, add_echo),
    "log": (0.3, log_an_edge),
    "dead end": (0.1, add_dead_end),
}
