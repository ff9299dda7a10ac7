"""Executors are killed while they hold rows, and the outside cannot tell (§4.4).

``FALKIRK_KILLS`` says how many flows meet a kill at a seeded moment, ``FALKIRK_SEED`` with which
seed they begin. A failure prints what happened and the command that replays it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faults.killing import kill_group

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("FALKIRK_KILLS", "1"))
FIRST_SEED = int(os.environ.get("FALKIRK_SEED", "0"))
SECONDS_A_RUN = 240
pytestmark = [
    pytest.mark.faults,
    pytest.mark.spark,
    pytest.mark.timeout(900 + SECONDS_A_RUN * KILLS),
]
IN_THE_LONG_RUN = pytest.mark.skipif(
    not os.environ.get("FALKIRK_KILLS_ALL"), reason="make faults-long runs it"
)
COMMAND = "FALKIRK_KILLS_ALL=1 pytest tests/faults/test_executor_kills.py -k seeded"


def outcomes(
    folder: Path, scenarios: str, first: int, count: int, kind: str = "classic"
) -> list[dict[str, Any]]:
    """Has a process of its own run scenarios, with executors of its own."""
    log = folder / f"{scenarios}.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.faults.executor_child"),
                *(str(folder), scenarios, str(first), str(count), kind),
            ],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    try:
        output, _ = process.communicate(
            timeout=60 + SECONDS_A_RUN * count * (1 + scenarios.count(","))
        )
    finally:
        kill_group(process)
    found = [json.loads(line) for line in output.splitlines() if line.startswith(b"{")]
    for each in found:
        print(each)
    seed = first + len(found)
    replay = f"FALKIRK_SEED={seed} FALKIRK_KILLS=1 {COMMAND}"
    told = [line for line in log.read_text().splitlines() if "falkirk." in line or "Error" in line]
    assert process.returncode == 0, "\n".join([*told[-40:], replay])
    return found


def test_seeded_kills(tmp_path: Path) -> None:
    """Nothing is lost and nothing comes twice, and random rows that went two ways agree."""
    check_mixed(outcomes(tmp_path, "mixed", FIRST_SEED, KILLS), KILLS)


def check_mixed(found: list[dict[str, Any]], kills: int) -> None:
    """What must hold after kills at any moment, of which there were so many at least."""
    for each in found:
        replay = f"FALKIRK_SEED={each['seed']} FALKIRK_KILLS=1 {COMMAND}"
        assert not each["wrong"], f"{each}\n{replay}"
    assert sum(each["kills"] for each in found) >= kills
    for recovery in (recovery for each in found for recovery in each["recoveries"]):
        assert set(recovery["failed"]) <= set(recovery["back"])
        assert not set(recovery["failed"]) & set(recovery["stayed"])


@pytest.fixture(scope="module")
def at_rest(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What happens when all executors go while a flow rests, by scenario."""
    found = outcomes(tmp_path_factory.mktemp("at-rest"), "durable,volatile", 0, 1)
    return {each["scenario"]: each for each in found}


def test_nobody_goes_back_when_everything_is_durable(at_rest: dict[str, dict[str, Any]]) -> None:
    """Once durable, what an executor held is read back: a loss costs a read, not a rollback."""
    found = at_rest["durable"]
    assert found["kills"] == 2
    assert not found["wrong"]
    assert not found["recoveries"]


def test_only_those_go_back_who_lost_something(at_rest: dict[str, dict[str, Any]]) -> None:
    """One processor had not saved its state. It and its sink start over, the others stay at ⊤."""
    check_volatile(at_rest["volatile"])


def check_volatile(found: dict[str, Any]) -> None:
    """What must hold when the state of one processor is gone, and nobody else's."""
    assert found["kills"] == 2
    assert not found["wrong"]
    assert found["recoveries"]
    for recovery in found["recoveries"]:
        assert set(recovery["failed"]) <= {"volatile", "volatile-out"}
        assert {"numbers", "keyed", "counts", "counts-out"} <= set(recovery["stayed"])


@IN_THE_LONG_RUN
def test_a_connect_session_recovers_though_it_sees_no_executors(tmp_path: Path) -> None:
    """It learns of a loss from the job that meets it, and then tries which rows are still there."""
    (found,) = outcomes(tmp_path, "volatile", 0, 1, "connect")
    check_volatile(found)


@IN_THE_LONG_RUN
def test_seeded_kills_behind_a_connect_server(tmp_path: Path) -> None:
    """The same as for a session that sees its executors."""
    kills = max(1, KILLS // 3)
    check_mixed(outcomes(tmp_path, "mixed", FIRST_SEED, kills, "connect"), kills)
