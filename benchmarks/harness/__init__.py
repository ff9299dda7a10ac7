"""What all benchmarks share: repetitions, reports, figures, processes that are measured."""
