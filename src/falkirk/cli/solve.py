"""``falkirk solve``: the largest consistent rollback of a problem given as a file."""

import sys
from pathlib import Path

import click

from falkirk.cli.common import always_json_option
from falkirk.cli.printing import print_json
from falkirk.core.errors import ProblemError
from falkirk.core.problem import read_problem, write_solution
from falkirk.core.problem.document import one_line
from falkirk.core.rollback import solve as solve_rollback


@click.command(short_help="Solve a rollback problem given as a file.")
@click.argument("problem")
@always_json_option
def solve(problem: str) -> None:
    """Print the frontiers for PROBLEM, a JSON file, or - for standard input, as JSON."""
    graph, restorables = read_problem(_read(problem))
    print_json(write_solution(solve_rollback(graph, restorables)))


def _read(problem: str) -> str:
    try:
        data = _standard_input() if problem == "-" else Path(problem).read_bytes()
    except OSError as error:
        raise ProblemError(one_line(problem), f"cannot be read: {error.strerror}") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ProblemError(one_line(problem), "is not UTF-8 text") from None


def _standard_input() -> bytes:
    if sys.stdin is None:  # Python's way to say that it was closed.
        raise ProblemError("-", "cannot be read: standard input is closed")
    return sys.stdin.buffer.read()
