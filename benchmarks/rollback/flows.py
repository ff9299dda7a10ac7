"""Flows of any size to measure with: their graphs, and what each processor has saved.

A flow goes on in *steps*: at step t a processor on epochs has done epoch t, one in a loop all
iterations of epoch t, and one on sequence numbers ``10 * (t + 1)`` messages of each input.
"""

from dataclasses import dataclass
from random import Random

from falkirk.core import (
    EPOCH,
    INF,
    AnyFrontier,
    Chain,
    Checkpoint,
    Edge,
    Enter,
    Feedback,
    Graph,
    Identity,
    Leave,
    Recorded,
    Restorable,
    Sequence,
    SequenceFrontier,
    Structured,
    TotalFrontier,
)

LOOP, SEQUENCE = Structured(2), Sequence()
PROJECTIONS = {
    (EPOCH, EPOCH): Identity(EPOCH, EPOCH),
    (LOOP, LOOP): Identity(LOOP, LOOP),
    (EPOCH, LOOP): Enter(EPOCH, LOOP),
    (LOOP, EPOCH): Leave(LOOP, EPOCH),
}
FEEDBACK, RECORDED = Feedback(LOOP, LOOP), Recorded()
LITERATURE = (8_896, 425_681)
"""Processors and edges of the largest graph in the literature for this computation; plots there
reach 4 s."""
REACH = 100
"""An edge leads from a processor to one of the next ``REACH`` ones."""
BLOCK = 50
"""Neighbouring processors come in blocks of one domain."""
FIRST, LAST = 95, 99
"""The oldest step that is kept, and the one that even laggards have saved."""


@dataclass
class Flow:
    """A graph and the policy of each processor: ``any``, ``logs`` or ``discards``."""

    graph: Graph
    policy: dict[str, str]
    rng: Random

    def frontier(self, p: str, step: int):
        """The frontier of ``p`` that contains all of ``step``."""
        domain = self.graph.domains[p]
        if domain is SEQUENCE:
            return SequenceFrontier({d.name: 10 * (step + 1) for d in self.graph.inputs(p)})
        return TotalFrontier((step, INF) if domain is LOOP else (step,))

    def on(self, edge: Edge, step: int) -> TotalFrontier:
        """What an edge carries up to ``step``, in the domain of its target."""
        domain = self.graph.domains[edge.target]
        if domain is SEQUENCE:
            return TotalFrontier((10 * (step + 1),))
        return TotalFrontier((step, INF) if domain is LOOP else (step,))

    def checkpoint(self, p: str, step: int, live: bool = False) -> Checkpoint:
        """Ξ(p, f) at the end of ``step``; ``live`` is ⊤, with ``step`` begun and not ended."""
        outputs, domain = self.graph.outputs(p), self.graph.domains[p]
        empty = TotalFrontier()
        discarded = {
            e.name: empty if self.policy[p] == "logs" else self.on(e, step) for e in outputs
        }
        recorded = [e for e in outputs if e.projection.recorded]
        if not live:
            fixed = {e.name: self.on(e, step) for e in recorded}
            notified = domain.empty if domain is SEQUENCE else None
            return Checkpoint(self.frontier(p, step), notified, {}, discarded, fixed)
        processed = {d.name: self.on(d, step) for d in self.graph.inputs(p)}
        notified = domain.empty if domain is SEQUENCE else self.frontier(p, step - 1)
        fixed = {e.name: TotalFrontier((INF,) * len(self.on(e, step))) for e in recorded}
        return Checkpoint(domain.top, notified, processed, discarded, fixed)


def mixed(processors: int, edges: int, seed: int) -> Flow:
    """Blocks on epochs (6 of 10), in loops (3 of 10) and on sequence numbers (1 of 10).

    Of the processors 3 in 10 are stateless, 2 in 10 log what they send, and the others discard it;
    those on sequence numbers, and those who send to them, keep state. In a loop one edge in ten
    leads back.
    """
    rng = Random(seed)
    kinds = rng.choices((EPOCH, LOOP, SEQUENCE), (6, 3, 1), k=processors // BLOCK)
    blocks = [EPOCH, *kinds]
    domains = [blocks[i // BLOCK] for i in range(processors)]
    names = [f"p{i}" for i in range(processors)]
    stateful = {i for i in range(processors) if domains[i] is SEQUENCE}
    found = []
    for k in range(edges):
        s, t = _ends(rng, k, processors)
        projection = PROJECTIONS.get((domains[s], domains[t]), RECORDED)
        inside = domains[s] is domains[t] is LOOP and s // BLOCK == t // BLOCK
        if inside and k >= processors and rng.random() < 0.1:
            s, t, projection = t, s, FEEDBACK
        if projection is RECORDED:
            stateful.add(s)
        found.append(Edge(f"e{k}", names[s], names[t], projection))
    policy = {
        name: rng.choices(("any", "logs", "discards"), (0 if i in stateful else 3, 2, 5))[0]
        for i, name in enumerate(names)
    }
    return Flow(Graph(dict(zip(names, domains, strict=True)), found), policy, rng)


def _ends(rng: Random, k: int, processors: int) -> tuple[int, int]:
    """The ends of the ``k``-th edge; the first ones give every processor but the first an input."""
    if k < processors - 1:
        return max(0, k + 1 - rng.randint(1, REACH)), k + 1
    source = rng.randrange(processors - 1)
    return source, min(processors - 1, source + rng.randint(1, REACH))


def separate(processors: int, seed: int, size: int, degree: int) -> Flow:
    """Many flows of ``size`` processors each on epochs, nothing between them; nobody logs."""
    rng = Random(seed)
    identity = PROJECTIONS[EPOCH, EPOCH]
    edges = []
    for k in range(processors * degree):
        flow = rng.randrange(processors // size) * size
        s = rng.randrange(size - 1)
        t = rng.randrange(s + 1, size)
        edges.append(Edge(f"e{k}", f"p{flow + s}", f"p{flow + t}", identity))
    names = [f"p{i}" for i in range(processors)]
    policy = {name: rng.choice(("any", "discards", "discards")) for name in names}
    return Flow(Graph(dict.fromkeys(names, EPOCH), edges), policy, rng)


def saved(flow: Flow, steps: dict[str, int], live: set[str]) -> dict[str, Restorable]:
    """What everyone can restore after ``steps``; those in ``live`` may keep ⊤."""
    found: dict[str, Restorable] = {}
    for p in flow.graph.domains:
        if flow.policy[p] == "any":
            found[p] = AnyFrontier(flow.frontier(p, steps[p]), failed=p not in live)
            continue
        chain = Chain(flow.graph, p, [Checkpoint(flow.graph.domains[p].empty)])
        for step in range(FIRST, steps[p] + 1):
            chain.append(flow.checkpoint(p, step))
        if p in live:
            chain.append(flow.checkpoint(p, LAST + 5, live=True))
        found[p] = chain
    return found


def all_failed(processors: int, edges: int, seed: int) -> tuple[Graph, dict[str, Restorable]]:
    """Everyone failed, and has saved up to 0 to 4 steps more than the slowest."""
    flow = mixed(processors, edges, seed)
    steps = {p: LAST + flow.rng.randint(0, 4) for p in flow.graph.domains}
    return flow.graph, saved(flow, steps, set())


def region_failed(processors: int, edges: int, seed: int) -> tuple[Graph, dict[str, Restorable]]:
    """One processor in twenty failed, all in one place; everyone else has ⊤.

    Every fifth stretch of ``REACH`` processors logs, so that whoever is upstream of a wall of
    loggers may keep ⊤.
    """
    flow = mixed(processors, edges, seed)
    steps = {p: LAST + flow.rng.randint(0, 4) for p in flow.graph.domains}
    names = list(flow.graph.domains)
    for i, p in enumerate(names):
        if i // REACH % 5 == 4:
            flow.policy[p] = "logs"
    failed = set(names[processors // 2 : processors // 2 + processors // 20])
    return flow.graph, saved(flow, steps, set(names) - failed)


def collapse(processors: int, edges: int, seed: int) -> tuple[Graph, dict[str, Restorable]]:
    """Everyone failed with six checkpoints of random epochs each: nearly all go back to ∅."""
    flow = mixed_epochs(processors, edges, seed)
    found: dict[str, Restorable] = {}
    for p in flow.graph.domains:
        if flow.policy[p] == "any":
            found[p] = AnyFrontier(flow.frontier(p, flow.rng.randrange(100)), failed=True)
            continue
        steps = sorted(flow.rng.sample(range(100), 6))
        checkpoints = [Checkpoint(EPOCH.empty), *(flow.checkpoint(p, step) for step in steps)]
        found[p] = Chain(flow.graph, p, checkpoints)
    return flow.graph, found


def mixed_epochs(processors: int, edges: int, seed: int) -> Flow:
    """Epochs only: 3 in 10 stateless, 3 in 10 log, 4 in 10 discard."""
    rng = Random(seed)
    identity = PROJECTIONS[EPOCH, EPOCH]
    found = []
    for k in range(edges):
        s, t = _ends(rng, k, processors)
        found.append(Edge(f"e{k}", f"p{s}", f"p{t}", identity))
    names = [f"p{i}" for i in range(processors)]
    policy = {name: rng.choices(("any", "logs", "discards"), (3, 3, 4))[0] for name in names}
    return Flow(Graph(dict.fromkeys(names, EPOCH), found), policy, rng)
