"""Spark's ``hash`` in Python, so that records can be made up where there is no Spark."""

MASK = 0xFFFFFFFF
SEED = 42


def spark_hash(number: int, salt: int) -> int:
    """What ``hash(number, salt)`` is in SQL, for a BIGINT and an INT: Murmur3, 32 bits.

    >>> spark_hash(0, 11), spark_hash(123_456, 19)
    (-1034097354, 1706327365)
    """
    mixed = step(step(SEED, number & MASK), number >> 32 & MASK)
    found = finished(step(finished(mixed, 8), salt & MASK), 4)
    return found - (1 << 32) if found >> 31 else found


def step(before: int, word: int) -> int:
    """Takes one more word in."""
    word = word * 0xCC9E2D51 & MASK
    word = (word << 15 | word >> 17) & MASK
    before ^= word * 0x1B873593 & MASK
    before = (before << 13 | before >> 19) & MASK
    return before * 5 + 0xE6546B64 & MASK


def finished(before: int, length: int) -> int:
    """Mixes all bits at the end."""
    before ^= length
    before = (before ^ before >> 16) * 0x85EBCA6B & MASK
    before = (before ^ before >> 13) * 0xC2B2AE35 & MASK
    return before ^ before >> 16
