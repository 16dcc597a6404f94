"""Checks this machine, or with run=<folder> a run folder; prints ok a check, exits 1 naming what is broken."""

from coevolve.build import entry
from coevolve.doctor import DoctorConfig, main

if __name__ == "__main__":
    entry(main, DoctorConfig, "doctor")
