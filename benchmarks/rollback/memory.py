"""What a graph, its checkpoints and a solver take of memory, each in a process of its own."""

import subprocess
import sys

from benchmarks.harness.report import Table
from benchmarks.harness.spread import spread

MEMORY = """
import sys
from benchmarks.harness.measure import resident_bytes
from benchmarks.rollback import flows
from benchmarks.rollback.solving import SEED
from falkirk.core.fixpoint import Fixpoint
processors, edges = int(sys.argv[1]), int(sys.argv[2])
start = resident_bytes()
flow = flows.mixed(processors, edges, SEED)
graph = resident_bytes()
restorables = flows.saved(flow, dict.fromkeys(flow.graph.domains, flows.LAST), set())
saved = resident_bytes()
point = Fixpoint(flow.graph, restorables)
point.settle()
print(graph - start, saved - graph, resident_bytes() - saved)
"""


def table(quick: bool) -> Table:
    """Resident memory at two densities, solved for bytes per processor and per edge."""
    processors, rounds = (2_000, 1) if quick else (10_000, 3)
    shown = Table(
        "Memory",
        ["what", "bytes/processor", "bytes/edge"],
        note="Resident memory of processes of their own at degrees 10 and 40, and the straight line"
        " through both. Checkpoints: five for each processor that keeps state. Processes of"
        f" each: {rounds}, in turn; median, with the least and the greatest.",
    )
    found = [[resident(processors, degree) for degree in (10, 40)] for _ in range(rounds)]
    for number, what in enumerate(("graph", "checkpoints", "solver")):
        per_edge, per_processor = [], []
        for low, high in found:
            per_edge.append((high[number] - low[number]) / (30 * processors))
            per_processor.append(low[number] / processors - 10 * per_edge[-1])
        cells = (spread(values, "{:,.0f}".format) for values in (per_processor, per_edge))
        shown.rows.append([what, *cells])
    return shown


def resident(processors: int, degree: int) -> list[int]:
    """Bytes of the graph, the checkpoints and the solver, in a process of their own."""
    command = [sys.executable, "-c", MEMORY, str(processors), str(processors * degree)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return list(map(int, told.split()))
