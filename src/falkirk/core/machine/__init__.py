"""The deterministic engine: events in, effects out. No clock, no thread, no randomness, no I/O.

``flow`` describes, ``progress`` knows which times are complete, ``ledger`` keeps what every
processor owns by time, ``channel`` holds undelivered messages, ``engine`` takes the steps,
``recovery`` rolls back. The Spark runtime and the simulator drive the same machine.
"""
