"""Exact task transformations: what a skill's tool_hint names."""
