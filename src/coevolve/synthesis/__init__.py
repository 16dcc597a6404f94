"""Synthesis: one batch of chains, each led by the Director from a task to a harder verified one."""
