"""Equal code has equal definitions, in every process; another parameter or constant has not."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import falkirk as fk
from falkirk.core.times import Time
from falkirk.dataflow.definition import definition
from falkirk.dataflow.operators.plan import Transform


def source(text: str, **names: Any) -> dict[str, Any]:
    """What a user's module defines."""
    module = {"__name__": "__falkirk__", "fk": fk, **names}
    exec(text, module)
    return module


FUNCTION = "def keep(frame):\n    return frame.where(helped() > {})\ndef helped():\n    return {}\n"
CLASS = """
class Own(fk.Processor):
    def __init__(self, size):
        self.size = size

    def on_message(self, ctx, port, time, batch):
        ctx.send(batch{})
"""


def keep(first: int, second: int) -> Callable[..., Any]:
    found: Callable[..., Any] = source(FUNCTION.format(first, second))["keep"]
    return found


def test_code_counts_and_where_it_stands_does_not() -> None:
    moved = source("\n\n\n" + FUNCTION.format(1, 2))["keep"]
    assert definition(Transform(keep(1, 2))) == definition(Transform(moved))
    assert definition(Transform(keep(1, 2))) != definition(Transform(keep(9, 2)))


def test_what_a_function_calls_counts() -> None:
    assert definition(keep(1, 2)) != definition(keep(1, 3))


def test_a_condition_of_the_fluent_interface_counts() -> None:
    def one(condition: str) -> str:
        flow = fk.Dataflow("numbers")
        flow.read(fk.Numbers(), name="n").where(condition, name="where")
        return definition(flow.build().nodes["where"].operator)  # type: ignore[index]

    assert one("value > 1") == one("value > 1") != one("value > 2")


def test_a_global_of_the_users_module_counts() -> None:
    text = "def keep(frame):\n    return frame.limit(LIMIT)\n"
    one, other = source(text, LIMIT=3), source(text, LIMIT=4)
    assert definition(one["keep"]) != definition(other["keep"])


def test_a_processor_counts_by_its_methods_and_its_parameters() -> None:
    own, other = source(CLASS.format(""))["Own"], source(CLASS.format(".materialise()"))["Own"]
    assert definition(own(1)) == definition(source(CLASS.format(""))["Own"](1))
    assert definition(own(1)) != definition(own(2))
    assert definition(own(1)) != definition(other(1))


def test_a_source_counts_by_its_parameters_and_not_by_what_it_remembers() -> None:
    files = fk.Files("in")
    before = definition(files)
    files._looked["reader"] = object()
    assert definition(files) == before != definition(fk.Files("out"))


def test_things_that_contain_themselves_are_followed_once() -> None:
    module = source("def one(n):\n    return two(n)\ndef two(n):\n    return one(n)\n")
    assert definition(module["one"])
    own: list[Any] = []
    own.append(own)
    assert definition(own)


def test_what_a_library_made_counts_by_its_kind() -> None:
    time: Time = (1,)
    assert definition(sys.stdout) == definition(sys.stdout)
    assert definition({"a", "b", 1, time}) == definition({time, 1, "b", "a"})


@pytest.mark.parametrize("seed", ["1", "2"])
def test_every_process_says_the_same(seed: str) -> None:
    text = (
        "from falkirk.dataflow.definition import definition\n"
        "def keep(row):\n    return row in {'a', 'b', 'c'} and {'x': 1, 'y': {2, 3}}\n"
        "print(definition(keep))\n"
    )
    done = [
        subprocess.run(
            [sys.executable, "-c", text],
            env={"PYTHONHASHSEED": each},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for each in ("0", seed)
    ]
    assert done[0] == done[1] != ""
