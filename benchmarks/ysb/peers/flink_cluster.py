"""A standalone Flink cluster on this machine: a job manager and two task managers.

A task manager that ends is started again at once, as a service manager would.
"""

import os
import shutil
import socket
import subprocess
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import pyflink

HOME = Path(pyflink.__file__).parent
HOST = "localhost"
WORKERS = 2
PATIENCE_SECONDS = 60.0


def start_cluster(folder: Path) -> dict[str, str]:
    """Starts a cluster that keeps its settings and logs in ``folder``; how to reach it."""
    rpc, rest = free_ports(2)
    settings = {
        "jobmanager.rpc.address": HOST,
        "jobmanager.rpc.port": rpc,
        "rest.address": HOST,
        "rest.bind-address": HOST,
        "rest.port": rest,
        "taskmanager.host": HOST,
        "taskmanager.numberOfTaskSlots": os.cpu_count() or 2,
        "taskmanager.load-balance.mode": "SLOTS",
        "taskmanager.memory.process.size": "1728m",
        "jobmanager.memory.process.size": "1600m",
        "heartbeat.interval": "500 ms",
        "heartbeat.timeout": "3 s",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": 100,
        "restart-strategy.fixed-delay.delay": "100 ms",
    }
    configure(folder / "conf", settings)
    spawn(folder, "jobmanager")
    await_port(rest)
    for _ in range(WORKERS):
        Thread(target=keep, args=(folder,), daemon=True).start()
    library = next((HOME / "opt").glob("flink-python-*.jar"))
    return {
        "execution.target": "remote",
        "execution.attached": "true",
        "rest.address": HOST,
        "rest.port": str(rest),
        "pipeline.jars": library.as_uri(),
    }


def configure(folder: Path, settings: dict[str, object]) -> None:
    """Flink's own configuration folder with these settings and its own options for the JVM."""
    shutil.copytree(HOME / "conf", folder)
    place = folder / "config.yaml"
    lines = place.read_text("utf-8").splitlines()
    options = next(line.split(":", 1)[1] for line in lines if line.strip().startswith("all:"))
    text = "".join(f"{key}: {value}\n" for key, value in settings.items())
    place.write_text(f"env.java.opts.all:{options}\n{text}", "utf-8")


def spawn(folder: Path, role: str) -> subprocess.Popen[bytes]:
    """Starts a part of the cluster, which goes when this process and its group are killed."""
    variables = {
        **os.environ,
        "FLINK_HOME": str(HOME),
        "FLINK_CONF_DIR": str(folder / "conf"),
        "FLINK_LOG_DIR": str(folder),
        "FLINK_PID_DIR": str(folder),
    }
    script = HOME / "bin" / f"{role}.sh"
    with (folder / f"{role}.out").open("ab") as log:
        return subprocess.Popen(
            ["bash", script, "start-foreground"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=variables,
        )


def keep(folder: Path) -> None:
    """A task manager, again and again."""
    while True:
        spawn(folder, "taskmanager").wait()


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    held = [socket.create_server((HOST, 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def await_port(port: int) -> None:
    """Waits until somebody listens."""
    until = monotonic() + PATIENCE_SECONDS
    while True:
        try:
            socket.create_connection((HOST, port)).close()
            return
        except OSError:
            if monotonic() > until:
                raise
            sleep(0.05)
