"""Evaluation: solver attempts, what they amount to (Eq. 2), and the gate (Eq. 5)."""
