"""The ``falkirk`` command. Each subcommand has a module of its own."""

import sys

import click

from falkirk import __version__
from falkirk.cli.demo import demo
from falkirk.cli.monitor import monitor
from falkirk.cli.run import run
from falkirk.cli.solve import solve
from falkirk.core.errors import FalkirkError
from falkirk.core.problem.document import one_line

USER_ERROR = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="falkirk")
def cli() -> None:
    """Rollback recovery for dataflow on Spark, with a fault-tolerance policy for every part."""


cli.add_command(demo)
cli.add_command(monitor)
cli.add_command(run)
cli.add_command(solve)


def main() -> None:
    """Runs the command; a mistake of the user's is one line on standard error and exit status 2."""
    try:
        cli()
    except FalkirkError as error:
        click.echo(f"falkirk: {one_line(str(error))}", err=True)
        sys.exit(USER_ERROR)
