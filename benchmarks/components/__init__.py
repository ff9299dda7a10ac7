"""Connected components of a graph that changes: following the changes, or computing them again."""
