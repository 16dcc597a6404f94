"""The only holder of benchmark items: what overlaps them, and which candidates repeat each other."""
