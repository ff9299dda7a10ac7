"""The ``falkirk`` command. Each subcommand has a module of its own."""

import os
import sys

import click

from falkirk import __version__
from falkirk.cli.audit import audit
from falkirk.cli.bench import bench
from falkirk.cli.check import check
from falkirk.cli.demo import demo
from falkirk.cli.doctor import doctor
from falkirk.cli.explain import explain
from falkirk.cli.figure_7 import figure_7
from falkirk.cli.gc import gc
from falkirk.cli.init import init
from falkirk.cli.monitor import monitor
from falkirk.cli.pin import pin, unpin
from falkirk.cli.pins import pins
from falkirk.cli.printing import in_one_line
from falkirk.cli.recoveries import recoveries
from falkirk.cli.rollback import rollback
from falkirk.cli.run import run
from falkirk.cli.shadow import shadow
from falkirk.cli.solve import solve
from falkirk.cli.state import state
from falkirk.cli.status import status
from falkirk.cli.ui import ui
from falkirk.cli.what_if import what_if
from falkirk.core.errors import FalkirkError

USER_ERROR, OUTAGE = 2, 4

PARTS = {
    "Begin": ("demo", "init", "doctor"),
    "Write and run a flow": ("check", "run", "monitor"),
    "Look at a flow": (
        "status",
        "ui",
        "recoveries",
        "state",
        "explain",
        "what-if",
        "solve",
        "figure-7",
    ),
    "Take care of a store": ("rollback", "pin", "pins", "unpin", "shadow", "gc", "audit"),
    "Measure": ("bench",),
}
"""The commands as the help lists them."""


class Parts(click.Group):
    """A group whose help lists commands by what they are for."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes one list for each part."""
        for title, names in PARTS.items():
            rows = [
                (name, command.get_short_help_str(72))
                for name in names
                if (command := self.get_command(ctx, name)) is not None
            ]
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(cls=Parts, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="falkirk")
def cli() -> None:
    """Rollback recovery for dataflow on Spark, with a fault-tolerance policy for every part."""


for command in (
    audit,
    bench,
    check,
    demo,
    doctor,
    explain,
    figure_7,
    gc,
    init,
    monitor,
    pin,
    pins,
    recoveries,
    rollback,
    run,
    shadow,
    solve,
    state,
    status,
    ui,
    unpin,
    what_if,
):
    cli.add_command(command)


def main() -> None:
    """Runs the command; a mistake of the user's is one line on standard error and exit status 2.

    The status is 4 where something is down that may be back later. With FALKIRK_TRACEBACK set its
    stack trace is shown as well.
    """
    try:
        cli()
    except FalkirkError as error:
        if os.environ.get("FALKIRK_TRACEBACK"):
            raise
        click.echo(f"falkirk: {in_one_line(str(error))}", err=True)
        sys.exit(OUTAGE if error.passes else USER_ERROR)
