"""The application of the paper's Figure 1: four regimes of fault tolerance in one flow (§1)."""
