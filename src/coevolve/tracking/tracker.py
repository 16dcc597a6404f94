"""A run's side of tracking: a daemon thread that asks the tracking process to write what is missing.

Nothing here can stop or slow a run: `notify` sets a flag, failures are kept as text and tried again, `finish` waits a
bounded time and says what is left.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Literal

from coevolve.config import TrackingConfig
from coevolve.errors import ToolError, boundary
from coevolve.tracking.store import Store

MOST_SECONDS_BETWEEN_TRIES = 60.0
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "GIT_PYTHON_REFRESH": "quiet",
}


class Tracker:
    """Mirrors one run folder into MLflow while the run goes on."""

    def __init__(self, config: TrackingConfig, folder: Path) -> None:
        self._config = config
        self._folder = folder.absolute()
        self._store = Store.of(config.uri)
        self._sweep = os.environ.get("COEVOLVE_SWEEP", "")
        self._wake = threading.Event()
        self._done = threading.Event()
        self._status: str | None = None
        self._deadline = float("inf")
        self._process: subprocess.Popen[str] | None = None
        self._thread = threading.Thread(target=self._work, name="tracking", daemon=True)
        self.state: dict[str, Any] = self._left_by_an_earlier_process()
        """What the last sync that worked has written."""
        self.error: str | None = None
        """Why the last sync failed, None when it worked."""

    def start(self) -> None:
        """Begin; the MLflow run appears as soon as the store answers."""
        if self._config.enabled:
            self._keep_sweep()
            self._thread.start()
            self._wake.set()

    def notify(self) -> None:
        """A round was archived. Returns at once."""
        self._wake.set()

    def finish(self, status: Literal["FINISHED", "FAILED", "KILLED"], patience_seconds: float = 20.0) -> str | None:
        """End the MLflow run, waiting at most `patience_seconds`; what is left undone, as one line, or None."""
        if not self._config.enabled or not self._thread.is_alive():
            return None
        self._status, self._deadline = status, time.monotonic() + patience_seconds
        self._wake.set()
        ended = self._done.wait(patience_seconds)
        if self._process is not None:
            self._process.kill()
        if ended and self.error is None:
            return None
        why = self.error or f"the store did not answer within {patience_seconds:g} s"
        return f"tracking is not complete ({why}); later: python scripts/track.py run={self._folder}"

    def links(self) -> tuple[str, ...]:
        """Commands and addresses that show this run's experiment; empty while nothing is written."""
        return self._store.links(self.state["experiment_id"], self.state.get("view", "")) if self.state else ()

    def _keep_sweep(self) -> None:
        """Leave the sweep's name in the folder, so that it is known when the folder is written later."""
        path = self._folder / "tracking.json"
        if self._sweep and not path.exists():
            path.write_text(json.dumps({"sweep": self._sweep}))

    def _left_by_an_earlier_process(self) -> dict[str, Any]:
        path = self._folder / "tracking.json"
        state: dict[str, Any] = json.loads(path.read_text()) if self._config.enabled and path.exists() else {}
        return state if state.get("uri") == self._store.uri and "run" in state else {}

    def _work(self) -> None:
        delay = self._config.every_seconds
        while not self._done.is_set():
            self._wake.wait(None if self.error is None else delay)
            self._wake.clear()
            status = self._status
            try:
                self._sync(status)
                self.error, delay = None, self._config.every_seconds
            except ToolError as error:
                self.error, delay = str(error), min(delay * 2, MOST_SECONDS_BETWEEN_TRIES)
            if status is not None and (self.error is None or time.monotonic() + 1 > self._deadline):
                self._done.set()
            elif self._status is not None:
                delay = 1.0
            else:
                self._pause()

    def _pause(self) -> None:
        """Let `every_seconds` pass between syncs, unless the run ends."""
        until = time.monotonic() + self._config.every_seconds
        while self._status is None and time.monotonic() < until:
            time.sleep(0.1)

    def _sync(self, status: str | None) -> None:
        with boundary(ToolError, "the tracking process"):
            if self._process is None or self._process.poll() is not None:
                self._process = self._launch()
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.write(json.dumps({"status": status}) + "\n")
            self._process.stdin.flush()
            answer = json.loads(self._process.stdout.readline() or '{"error": "it ended; see tracking.log"}')
        if "error" in answer:
            raise ToolError(answer["error"])
        self.state = answer["state"]

    def _launch(self) -> subprocess.Popen[str]:
        place = self._store.uri if self._store.root is None else str(self._store.root)
        command = [
            sys.executable,
            "-m",
            "coevolve.tracking",
            str(self._folder),
            place,
            self._config.experiment,
            self._sweep,
        ]
        with (self._folder / "tracking.log").open("a") as log:
            return subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
                env={**os.environ, **QUIET},
            )
