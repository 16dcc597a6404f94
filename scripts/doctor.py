"""Checks this machine and its models, or with run=<folder> a run folder; exits 1 naming what is broken."""

from coevolve.interrupts import loading

with loading():
    from coevolve.build import entry
    from coevolve.doctor import DoctorConfig, main

if __name__ == "__main__":
    entry(main, DoctorConfig, "doctor")
