"""The same work exactly once, beside Structured Streaming: throughput, latency, recovery."""
