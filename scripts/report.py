"""Tables 1-8 and their figures from tracked runs and evaluations: report.py runs=<folder or experiment>."""

from coevolve.interrupts import loading

with loading():
    from coevolve.build import entry
    from coevolve.report.settings import ReportConfig


def main(config: ReportConfig) -> int:
    """Write them and say what is missing."""
    with loading():
        from coevolve.report.writing import report

    for line in report(config):
        print(line)
    return 0


if __name__ == "__main__":
    entry(main, ReportConfig, "report")
