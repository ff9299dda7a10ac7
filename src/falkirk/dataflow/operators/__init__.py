"""The built-in operators, one a file; each is an ordinary processor."""
