"""The Yahoo streaming benchmark: falkirk, Structured Streaming, Flink, Pathway and Bytewax."""
