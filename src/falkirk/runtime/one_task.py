"""How many bytes one of Spark's tasks does sooner than several of them with a shuffle in between.

One partition needs no shuffle to be grouped or joined.
"""

ONE_TASK_BYTES_MAX = 12 * 1024 * 1024
"""Rows that a task passes on, or looks up in a small table: those of an epoch, as large as their
source says they are."""

ONE_TASK_WORK_BYTES_MAX = 4 * 1024 * 1024
"""Less where each byte is more work: files, which can be eight times larger once they are
unpacked, and the two sides of a join, of which one becomes a hash table."""

BROADCAST_BYTES_MAX = 8 * 1024 * 1024
"""What goes to every executor, rather than that rows of both sides of a join go to a third place.
Spark knows how large a table is only if it is very small."""

KEYS_BYTES_MAX = 32 * 1024 * 1024
"""The same for keys that are looked for among all of a state, which is as large or larger. Of a
million keys among four million that takes a third of the time that it takes to sort both."""
