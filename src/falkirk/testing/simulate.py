"""``python -m falkirk.testing.simulate``: many seeds, the table of teeth, or one run in words."""

import sys
import time
from os import cpu_count
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from falkirk.testing.blocks import Block, bite_block, blocks, run_block, run_in_processes
from falkirk.testing.case import RANDOM_FLOWS, Case, read_schedule
from falkirk.testing.shrink import attempt, shrink
from falkirk.testing.teeth import HEADINGS, TEETH, Score, page

PAGE = "docs/internals/teeth.md"
console = Console(soft_wrap=True, highlight=False)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--seeds", default=5_000, show_default=True, help="How many seeds to run.")
@click.option("--start", default=0, show_default=True, help="The first seed.")
@click.option("--jobs", default=cpu_count() or 1, help="How many processes; all cores by default.")
@click.option("--rules-off", multiple=True, metavar="RULE", help="Switch a rule off.")
@click.option("--flows", default=RANDOM_FLOWS, show_default=True, help="Who makes the flows.")
@click.option("--teeth", default=None, type=int, help="Seeds for each rule of the table; 0: none.")
@click.option("--write-docs", is_flag=True, help=f"Write the table to {PAGE}.")
@click.option("--seed", default=None, type=int, help="Run this seed only.")
@click.option("--transcript", is_flag=True, help="Print what happened in that run.")
@click.option("--shrink", "smaller", is_flag=True, help="Make that run small, if it fails.")
@click.option("--batches", default="", help="Less input for that run; as a shrunk failure says.")
@click.option("--script", default=None, help="The schedule of that run; likewise.")
def simulate(
    seeds: int,
    start: int,
    jobs: int,
    rules_off: tuple[str, ...],
    flows: str,
    teeth: int | None,
    write_docs: bool,
    seed: int | None,
    transcript: bool,
    smaller: bool,
    batches: str,
    script: str | None,
) -> None:
    """Put flows through failures, and see whether the outside can tell."""
    known = {tooth.rule for tooth in TEETH}
    for name in rules_off:
        if name not in known:
            raise click.BadParameter(f"no rule {name!r}; there are {', '.join(sorted(known))}")
    if seed is not None:
        case = Case(seed, flows, rules_off, read_schedule(script), batches)
        sys.exit(one(case, transcript, smaller))
    total = many(start, seeds, jobs, flows, rules_off)
    if total.failures:
        explain(Case(min(total.failures)[0], flows, rules_off))
        sys.exit(1)
    count = min(seeds, 1_000) if teeth is None else teeth
    if rules_off or not count:
        return
    scores = table(start, count, jobs, flows)
    show(scores)
    if write_docs:
        command = f"make simulate SEEDS={seeds} TEETH={count} DOCS=yes"
        Path(PAGE).write_text(page(scores, command), "utf-8")
    sys.exit(any(score.first is None for score in scores))


def one(case: Case, transcript: bool, smaller: bool) -> int:
    """Runs one case; the exit status is 1 if it fails."""
    if smaller:
        failure = shrink(case)
    else:
        failure, _ = attempt(case)
        if failure is None and transcript:
            run = case.simulation().run()
            console.print("\n".join(run.transcript()), markup=False)
    if failure is None:
        console.print(f"seed {case.seed}: nothing to see from outside", style="green")
        return 0
    console.print(str(failure), markup=False)
    return 1


def many(start: int, seeds: int, jobs: int, flows: str, rules_off: tuple[str, ...]) -> Block:
    """Runs the seeds, and says how it went."""
    total, began = Block(), time.monotonic()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("seeds", total=seeds)
        calls = [(first, count, flows, rules_off) for first, count in blocks(start, seeds)]
        for _, block in run_in_processes(run_block, calls, jobs):
            total.add(block)
            progress.update(task, completed=total.runs)
    seconds = time.monotonic() - began
    speed, alone = (total.runs / max(each, 1e-9) * 60 for each in (seconds, total.cpu))
    console.print(
        f"{total.runs:,} runs of {total.steps / max(total.runs, 1):.0f} steps in {seconds:.1f} s:"
        f" {speed:,.0f} a minute on {jobs} processes, {alone:,.0f} in a minute of one core's time;"
        f" {len(total.failures):,} failed"
    )
    for what, times in sorted(total.seen.items()):
        console.print(f"  {times:>9,}  {what}")
    return total


def explain(case: Case) -> None:
    """Shrinks a failing case and prints how to replay it."""
    console.print(f"seed {case.seed} fails; shrinking it", style="red")
    console.print(str(shrink(case) or "it did not fail again"), markup=False)


def table(start: int, count: int, jobs: int, flows: str) -> list[Score]:
    """Switches every rule off, one after the other."""
    scores = {tooth.rule: Score(tooth) for tooth in TEETH}
    calls = [(rule, *block, flows) for rule in scores for block in blocks(start, count)]
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("teeth", total=len(calls))
        for which, verdicts in run_in_processes(bite_block, calls, jobs):
            for verdict in verdicts:
                scores[calls[which][0]].add(verdict)
            progress.advance(task)
    return list(scores.values())


def show(scores: list[Score]) -> None:
    """Prints the table of teeth."""
    count = scores[0].seeds
    printed = Table(*HEADINGS, title=f"What notices that a rule is off, of {count:,} seeds each")
    for score in scores:
        printed.add_row(*score.row(), style="red" if score.first is None else None)
    console.print(printed)


if __name__ == "__main__":
    simulate()
