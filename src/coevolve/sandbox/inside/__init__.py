"""The part of the sandbox that runs inside the box: standard library only."""
