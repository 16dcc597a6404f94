"""Agents: a role's prompt and payload go to a model, a typed reply comes back."""
