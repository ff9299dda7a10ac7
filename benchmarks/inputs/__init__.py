"""What is fed to flows and to their peers: events of advertisements, random keys."""
