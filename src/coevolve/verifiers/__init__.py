"""Verifiers: the fixed judges of answers and tasks, outside every edit (I1)."""
