"""Tables 5-8 and Figures 2a, 4, 5, 6 from tracked runs: python scripts/report.py runs=<folder or experiment>."""

from coevolve.interrupts import loading

with loading():
    from coevolve.build import entry
    from coevolve.report.settings import ReportConfig


def main(config: ReportConfig) -> int:
    """Write them and say what is missing."""
    from coevolve.report.writing import report

    for line in report(config):
        print(line)
    return 0


if __name__ == "__main__":
    entry(main, ReportConfig, "report")
