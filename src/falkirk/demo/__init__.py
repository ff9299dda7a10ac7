"""Applications that show what the system does."""
