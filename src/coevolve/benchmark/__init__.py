"""Benchmark scores of any endpoint, in a process and a store of their own; nothing here reaches an update (I12)."""
