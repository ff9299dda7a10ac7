"""Rows are brought to the driver in pieces by a function that executors need nothing for."""

import subprocess
import sys

import pyarrow as pa
from pyspark import cloudpickle

from falkirk.runtime.streaming import empty_batch, packing

WORKER = """
import pickle, sys
import pyarrow as pa
sys.modules["falkirk"] = None
pack = pickle.load(sys.stdin.buffer)
given = pa.table({"n": [1, 2, 3]})
for row in pack(iter([*given.to_batches(max_chunksize=2), given.to_batches()[0].slice(0, 0)])):
    print(pa.ipc.open_stream(row.column("piece")[0].as_py()).read_all()["n"].to_pylist())
"""


def test_executors_need_nothing_of_falkirk() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WORKER],
        input=cloudpickle.dumps(packing()),
        capture_output=True,
        check=False,
    )
    assert done.stdout.decode() == "[1, 2]\n[3]\n", done.stderr.decode()


def test_columns_without_rows() -> None:
    schema = pa.schema([("n", pa.int64()), ("t", pa.string())])
    assert empty_batch(schema).schema == schema
