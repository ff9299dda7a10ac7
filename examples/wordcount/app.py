# examples/wordcount/app.py
from pathlib import Path

import falkirk as fk

HERE = Path(__file__).parent

flow = fk.Dataflow("wordcount")
lines = flow.read(fk.Files(HERE / "in", format="text", order="name"), name="lines")
words = lines.select("explode(split(lower(value), ' ')) AS word")
counts = words.group_by("word").count(name="counts", policy=fk.lazy(every=5))
counts.write(fk.ParquetSink("out"), name="written")

if __name__ == "__main__":
    fk.run(flow, store="state")
