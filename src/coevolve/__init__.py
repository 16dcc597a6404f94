"""Task-harness co-evolution: ever harder verified reasoning tasks, and a harness that rewrites itself."""
