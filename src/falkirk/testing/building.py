"""The parts of random flows: inputs, processors with policies that suit them, loops, outputs."""

from random import Random

from falkirk.core.domain import EPOCH, Structured
from falkirk.core.graph import Edge
from falkirk.core.machine.flow import Processor, Role
from falkirk.core.policy import Policy, Regime, batch, eager, ephemeral, history, lazy
from falkirk.core.projection import Enter, Feedback, Identity, Leave
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.testing.crossing import Meet, Recall, Turn
from falkirk.testing.logic import (
    Buffer,
    Delay,
    Drop,
    Items,
    Later,
    Logic,
    Map,
    Maybe,
    Stage,
    Sum,
    Tag,
    Total,
)

Inputs = dict[ProcessorId, list[list[Items]]]
LOOP = Structured(2)
KINDS = (Map(), Drop(), Tag(), Tag(), Sum(), Total(), Buffer(), Delay(), Later(), Maybe())


class Maker:
    """Collects processors, logic and edges."""

    def __init__(self, random: Random) -> None:
        """An empty flow."""
        self.random = random
        self.processors: list[Processor] = []
        self.logics: dict[ProcessorId, Logic] = {}
        self.edges: list[Edge] = []

    def base(self) -> tuple[list[ProcessorId], Inputs]:
        """The main part of the flow: returns where more can be attached, and the inputs."""
        random = self.random
        sources = [self.add_input(f"in{i}") for i in range(random.choice((1, 1, 2)))]
        open_ends = list(sources)
        for i in range(random.choice((1, 1, 2, 2, 3, 4))):
            name = ProcessorId(f"p{i}")
            if random.random() < 0.2:
                open_ends.append(self.add_loop(name, random.choice(open_ends)))
                continue
            self.add_inner(name)
            for source in random.sample(open_ends, min(len(open_ends), random.choice((1, 1, 2)))):
                self.connect(source, name)
            open_ends.append(name)
        sent = {edge.source for edge in self.edges}
        for i, end in enumerate([p for p in open_ends if p not in sent]):
            self.add_output(ProcessorId(f"out{i}"), end)
        if random.random() < 0.35:
            self.add_output(ProcessorId("extra"), random.choice(open_ends))
        return open_ends, {p: self.batches() for p in sources}

    def batches(self) -> list[list[Items]]:
        random = self.random
        return [
            [
                ((f"{epoch}.{k}", random.randint(0, 3), 0),)
                for k in range(random.choice((0, 1, 1, 2)))
            ]
            for epoch in range(random.randint(2, 4))
        ]

    def add_input(self, name: str) -> ProcessorId:
        policy = self.random.choice((ephemeral(), ephemeral(), batch()))
        self.processors.append(Processor(ProcessorId(name), EPOCH, policy, Role.INPUT))
        return ProcessorId(name)

    def add_inner(self, name: ProcessorId) -> None:
        random = self.random
        logic: Logic = random.choice(KINDS)
        seconds = lazy(seconds=random.choice((5, 20)))
        policies: list[Policy] = [lazy(random.randint(1, 3)), eager()]
        policies += [seconds] if random.random() < 0.3 else []
        if isinstance(logic, Map | Drop | Tag | Sum | Maybe):
            policies += [ephemeral(), ephemeral(), batch()]
        elif isinstance(logic, Delay):
            policies.append(batch())
        if not isinstance(logic, Tag | Maybe):
            policies.append(history())
        policy = random.choice(policies)
        saves = policy.regime in (Regime.LAZY, Regime.EAGER)
        own_state = saves and isinstance(logic, Total | Later | Sum) and random.random() < 0.4
        self.processors.append(Processor(name, EPOCH, policy, opaque=own_state))
        self.logics[name] = logic

    def add_output(
        self, name: ProcessorId, source: ProcessorId, policy: Policy | None = None
    ) -> None:
        policy = policy or self.random.choice((lazy(1), lazy(2), eager()))
        self.processors.append(Processor(name, EPOCH, policy, Role.OUTPUT))
        self.logics[name] = Stage()
        self.connect(source, name)

    def add_loop(self, name: ProcessorId, source: ProcessorId) -> ProcessorId:
        """A body whose output goes around until it is done, and a processor behind the loop."""
        random = self.random
        body, behind = ProcessorId(f"{name}-loop"), ProcessorId(f"{name}-done")
        around = EdgeId(f"{body}-around")
        stateful = (lazy(random.randint(1, 2)), eager(), history())
        remembers = random.random() < 0.3
        choices = stateful if remembers else (ephemeral(), batch(), *stateful)
        self.processors.append(Processor(body, LOOP, random.choice(choices)))
        self.processors.append(Processor(behind, EPOCH, random.choice((ephemeral(), lazy(1)))))
        self.logics[body] = Recall(around) if remembers else Turn(around)
        self.logics[behind] = Map(0)
        self.edges += [
            Edge(EdgeId(f"{source}>{body}"), source, body, Enter(EPOCH, LOOP)),
            Edge(around, body, body, Feedback(LOOP, LOOP)),
        ]
        last = self.add_meeting(name, body, LOOP) if random.random() < 0.5 else body
        self.edges.append(Edge(EdgeId(f"{last}>{behind}"), last, behind, Leave(LOOP, EPOCH)))
        return behind

    def add_meeting(
        self, name: ProcessorId, source: ProcessorId, domain: Structured
    ) -> ProcessorId:
        """A lattice processor inside a loop, behind ``source``."""
        meeting = ProcessorId(f"{name}-meets")
        policy = self.random.choice((lazy(self.random.randint(1, 2)), eager(), history()))
        self.processors.append(Processor(meeting, domain, policy, lattice=True))
        self.logics[meeting] = Meet()
        edge = Edge(EdgeId(f"{source}>{meeting}"), source, meeting, Identity(domain, domain))
        self.edges.append(edge)
        return meeting

    def connect(self, source: ProcessorId, target: ProcessorId) -> None:
        name = EdgeId(f"{source}>{target}")
        self.edges.append(Edge(name, source, target, Identity(EPOCH, EPOCH)))
