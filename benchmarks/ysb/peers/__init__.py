"""The peers: programs that run in environments of their own, and what those are made of."""
