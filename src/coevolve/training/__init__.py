"""Writes, checks and launches training commands of verl and TRL; no trainer is imported here."""
