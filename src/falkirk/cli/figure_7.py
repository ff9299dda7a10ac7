"""``falkirk figure-7``: the rollbacks of the paper's Figure 7, solved and drawn."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import click
from rich.console import Console

from falkirk.cli.drawing import ASCII, draw, legend, wrapped
from falkirk.cli.outcome import Outcome
from falkirk.cli.printing import print_json, speaks_unicode
from falkirk.core.domain import Sequence
from falkirk.core.problem import notation, write_solution


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel of Figure 7: what the problem is. The answer is the solver's."""

    letter: str
    title: str
    caption: str

    def problem(self) -> str:
        """The problem in the exchange format of ``falkirk solve``."""
        folder = files("falkirk.cli").joinpath("problems")
        return folder.joinpath(f"figure_7{self.letter}.json").read_text("utf-8")


PANELS: Mapping[str, Panel] = {
    panel.letter: panel
    for panel in (
        Panel(
            "a",
            "Sequence numbers",
            "Every message on an edge has its own number. Everyone logs what it sends and now and"
            " then saves its state. There are no notifications.",
        ),
        Panel(
            "b",
            "Epochs, as in Spark",
            "All messages of an epoch have one time. p logs what it sends, like a Spark RDD that"
            " is kept. Nobody else saves anything.",
        ),
        Panel(
            "c",
            "A loop, as in Naiad",
            "A time is an epoch and an iteration. y saves its state, q logs what it sends, and"
            " e5 leads into the next iteration.",
        ),
    )
}

INTRODUCTION = (
    "Three dataflows, in each of which one processor has failed. Which of the others must go back,"
    " and how far, so that everything agrees again? The solver finds the largest consistent answer:"
    " what lies inside each processor's frontier is kept, the rest is done again."
)


@click.command("figure-7", short_help="Solve and draw the rollbacks of the paper's Figure 7.")
@click.option("--panel", type=click.Choice(list(PANELS)), help="Show one panel only.")
@click.option("--json", "as_json", is_flag=True, help="Print problems and answers as JSON.")
@click.option("--problem", is_flag=True, help="Print the problem of --panel, for falkirk solve.")
def figure_7(panel: str | None, as_json: bool, problem: bool) -> None:
    """Solve the three rollbacks of the paper's Figure 7 and draw them.

    Each panel shows a dataflow in which a processor has failed: what everyone keeps, what is
    undone, what is sent again, and why. All of it is computed from the problem when you run this.
    """
    chosen = [PANELS[panel]] if panel else list(PANELS.values())
    if problem:
        if not panel or as_json:
            raise click.UsageError("--problem needs --panel, and excludes --json")
        click.echo(PANELS[panel].problem(), nl=False)
    elif as_json:
        report = {each.letter: _report(each) for each in chosen}
        print_json(report)
    else:
        _show(chosen)


def _show(panels: list[Panel]) -> None:
    console = Console(highlight=False)
    plain = None
    if not speaks_unicode():
        plain = io.StringIO()
        console = Console(highlight=False, file=plain, width=console.width)
    if len(panels) > 1:
        wrapped(console, INTRODUCTION, 0)
        console.print()
    legend(console)
    for panel in panels:
        console.print()
        title = f"Figure 7 ({panel.letter})  {panel.title}"
        draw(console, title, panel.caption, Outcome.of(panel.problem()))
    if plain is not None:
        click.echo(plain.getvalue().translate(ASCII), nl=False)


def _report(panel: Panel) -> dict[str, Any]:
    outcome = Outcome.of(panel.problem())
    graph = outcome.graph

    def in_notation(edge: Any, frontier: Any) -> Any:
        if isinstance(graph.domains[edge.target], Sequence):
            return {edge.name: frontier[0]} if frontier else "empty"
        return notation(graph, edge.target, frontier)

    return {
        "title": panel.title,
        "problem": json.loads(panel.problem()),
        "solution": write_solution(outcome.solution),
        "sent_again": {
            resend.edge.name: {
                "up_to": in_notation(resend.edge, resend.sent),
                "beyond": in_notation(resend.edge, resend.settled),
            }
            for resend in outcome.resends()
        },
    }
