"""Runs that never happened: what a listener would have been told, made up step by step."""

from random import Random
from typing import Any

from falkirk.core.constraints import Violation
from falkirk.core.frontier import ProductFrontier, SequenceFrontier, TotalFrontier
from falkirk.core.times import INF, EdgeId, ProcessorId
from falkirk.runtime.listening import LOST_EXECUTOR, RollbackNotice
from falkirk.runtime.progress import EdgeProgress, ProcessorProgress, Progress

NOON = 1_760_000_000.0

FLOW = {
    "clicks": ("input", "lazy"),
    "purchases": ("input", "eager"),
    "sessions": ("inner", "ephemeral"),
    "enrich": ("inner", "ephemeral"),
    "orders": ("inner", "batch"),
    "similar": ("inner", "lazy"),
    "rank": ("inner", "lazy"),
    "step": ("inner", "ephemeral"),
    "again": ("inner", "ephemeral"),
    "tickets": ("inner", "history"),
    "totals": ("inner", "snapshot"),
    "answers": ("output", "at-least-once"),
    "ledger": ("output", "eager"),
    "report": ("output", "lazy"),
}
EDGES = (
    "clicks sessions",
    "sessions enrich",
    "purchases orders",
    "orders enrich",
    "orders totals",
    "enrich similar",
    "similar rank enter",
    "rank step",
    "step again",
    "again rank feedback",
    "step report leave",
    "purchases tickets",
    "tickets ledger",
    "totals ledger",
    "enrich answers",
)
"""Source, target, and φ where it is not the identity."""

LOOP = ("rank", "step", "again")


def upto(p: str, epoch: int) -> Any:
    """All times of ``p`` up to the end of an epoch."""
    if p == "tickets":
        return SequenceFrontier({EdgeId("purchases→tickets"): max(0, 10 * (epoch + 1))}, 0)
    if epoch < 0:
        return ProductFrontier() if p in LOOP else TotalFrontier()
    return ProductFrontier([(epoch, INF)]) if p in LOOP else TotalFrontier((epoch,))


def progress(
    number: int,
    epoch: int,
    back: dict[str, int] | None = None,
    replaying: tuple[str, ...] = (),
    suspected: tuple[str, ...] = (),
) -> Progress:
    """How the scripted run stands when ``epoch`` is complete; ``back`` says who is not so far."""
    behind = {"rank": 1, "step": 1, "again": 1, "report": 2, "totals": 1} | {}
    processors = {}
    for place, (p, (role, regime)) in enumerate(FLOW.items()):
        reached = (back or {}).get(p, epoch - behind.get(p, 0))
        saved = reached - (0 if regime == "eager" else 2)
        if regime in ("ephemeral", "at-least-once"):
            saved = reached
        processors[ProcessorId(p)] = ProcessorProgress(
            role,
            regime,
            upto(p, reached),
            upto(p, saved),
            upto(p, min(saved, epoch - 6)),
            0.35 * (epoch - reached) + (0.12 if place % 3 else 0.0),
            40 * epoch + place,
            (1_200 + 310 * place) * number,
            place % 3,
            900 * place if regime not in ("ephemeral", "at-least-once") else 0,
            52_000 * place if regime not in ("ephemeral", "at-least-once") else 0,
            1 if back and p in back else 0,
            p in suspected,
            p in replaying,
            epoch + 1 if role == "input" else None,
            4 if role == "input" else 0,
            ((reached + 1,),) if place % 2 and p not in (*LOOP, "tickets") else (),
            17 if p in LOOP else 0,
        )
    edges = {}
    for place, line in enumerate(EDGES):
        source, target, projection = (*line.split(), "identity")[:3]
        logged = 24 if FLOW[source][1] in ("batch", "eager", "history") else 0
        edges[EdgeId(f"{source}→{target}")] = EdgeProgress(
            ProcessorId(source), ProcessorId(target), place % 4 // 2 * 3, logged, projection
        )
    return Progress(
        "storefront",
        number,
        NOON + number * 0.5,
        number * 0.5,
        processors,
        edges,
        0,
        2,
        1,
        7 * number,
        900 if back else 0,
    )


def rollback(number: int, at: float) -> RollbackNotice:
    """An executor is lost that held what ``rank`` and ``similar`` had not saved."""
    top = {p: TotalFrontier((INF,)) for p in FLOW}
    violation = Violation(
        "discarded-messages",
        ProcessorId("enrich"),
        EdgeId("enrich→similar"),
        "enrich discarded messages up to ↓(18), but similar keeps only ↓(14)",
        TotalFrontier((18,)),
        TotalFrontier((14,)),
    )
    moved = {"similar": 14, "rank": 14, "step": 14, "again": 14, "enrich": 14}
    return RollbackNotice(
        number,
        at,
        LOST_EXECUTOR,
        (ProcessorId("rank"), ProcessorId("similar")),
        {ProcessorId(p): f for p, f in top.items()}
        | {ProcessorId(p): upto(p, epoch) for p, epoch in moved.items()},
        {ProcessorId("enrich"): [violation]},
        {ProcessorId("similar"): 4, ProcessorId("rank"): 3, ProcessorId("enrich"): 4},
        0.042,
    )


def large(number: int, count: int = 1000) -> Progress:
    """A flow of many processors in layers, each fed by one to three of the layer before."""
    random = Random(7)
    wide = 25
    regimes = ["ephemeral", "ephemeral", "lazy", "lazy", "batch", "eager", "snapshot", "history"]
    processors, edges = {}, {}
    for i in range(count):
        layer = i // wide
        role = "input" if layer == 0 else "output" if i >= count - wide else "inner"
        reached = 40 + number - layer // 4
        processors[ProcessorId(f"processor-{i:04d}")] = ProcessorProgress(
            role,
            random.choice(regimes),
            TotalFrontier((reached,)),
            TotalFrontier((reached - 2,)),
            TotalFrontier((reached - 5,)),
            0.1 * layer,
            number,
            number * 100 * (i % 13),
            i % 4,
            i,
            i * 1000,
            0,
            False,
            False,
        )
        sources = {random.randrange((layer - 1) * wide, layer * wide) for _ in range(i % 3 + 1)}
        if random.random() < 0.8 and layer:
            sources = {min(layer * wide - 1, max((layer - 1) * wide, i - wide))}
        for source in sources if layer else ():
            edges[EdgeId(f"e{source}-{i}")] = EdgeProgress(
                ProcessorId(f"processor-{source:04d}"), ProcessorId(f"processor-{i:04d}"), 0, i % 2
            )
    at = NOON + number * 0.5
    return Progress("large", number, at, number * 0.5, processors, edges, 0, 0, 0, number)
