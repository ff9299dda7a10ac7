"""The application of Figure 1 beside a stop-the-world baseline: queries, inputs, three failures."""
