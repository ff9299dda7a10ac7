"""``falkirk bench``: runs the benchmarks of a source checkout."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import click

from falkirk.cli.common import json_option
from falkirk.cli.page import as_json
from falkirk.core.errors import ConfigurationError

LIST = """
import json
from benchmarks.__main__ import BENCHMARKS
print(json.dumps([each._asdict() for each in BENCHMARKS]))
"""


@click.command(short_help="Measure what falkirk costs on this machine.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--quick", is_flag=True, help="Small sizes, to see that it works; writes nothing.")
@click.option(
    "--list", "wants_list", is_flag=True, help="Tell what there is and how long it takes."
)
@click.option("--write-advice", is_flag=True, help="Have falkirk check advise by what is found.")
@json_option
def bench(
    names: tuple[str, ...], quick: bool, wants_list: bool, write_advice: bool, wants_json: bool
) -> None:
    """Run the benchmarks named NAME, or all of them, and write their reports.

    They are part of the source, not of an installed package: the reports go to benchmarks/results
    there. It is the same as python -m benchmarks. With --json what there is, or what was run with
    its exit status, goes to standard output, and tables to standard error.
    """
    if wants_json and wants_list:
        as_json(listed(checkout()))
        return
    flags = {"--quick": quick, "--list": wants_list, "--write-advice": write_advice}
    chosen = [flag for flag, given in flags.items() if given]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *names, *chosen],
        cwd=checkout(),
        check=False,
        stdout=sys.stderr if wants_json else None,
    )
    if wants_json:
        run = list(names) or [each["name"] for each in listed(checkout())]
        as_json({"benchmarks": run, "status": done.returncode})
    raise SystemExit(done.returncode)


def listed(folder: Path) -> list[dict[str, Any]]:
    """What there is, and how many minutes it takes."""
    done = subprocess.run(
        [sys.executable, "-c", LIST], cwd=folder, check=True, capture_output=True, text=True
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def checkout() -> Path:
    """The checkout that this package is from, or that the working folder is."""
    for folder in (Path(__file__).parents[3], Path.cwd()):
        if (folder / "benchmarks" / "__main__.py").is_file():
            return folder
    raise ConfigurationError(
        f"there are no benchmarks at {Path.cwd()}, and the installed package has none: they are in"
        " the folder benchmarks of falkirk's source. Next: unpack the source, make setup there, and"
        " run falkirk bench there"
    )
