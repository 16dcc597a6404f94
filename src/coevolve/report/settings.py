"""What scripts/report.py takes."""

from coevolve.config_models import Config


class ReportConfig(Config):
    """Which runs, and where to."""

    runs: str | list[str]
    """Folders of or above runs and evaluations, experiments below `outputs`, or MLflow experiments."""
    out: str
    """The folder that tables and figures are written to."""
    html: bool
    """Also write the page about everything in the runs."""
    outputs: str
    """Where runs lie."""
    tracking: str
    """MLflow's folder or address, for experiments that are no folder."""
