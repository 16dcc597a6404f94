"""The screenshots of docs/tracking.md, from a real sweep's store: python -m tests.make_screenshots <tracking folder>

Starts an MLflow server on the store, drives a headless Chromium, and writes docs/images/tracking-*.png.
"""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from tests.report.chromium import Tab, chromium, find_chromium

from coevolve.tracking.store import Store

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
START_SECONDS = 300
LONGEST_WAIT_SECONDS = 55
WIDTH, HEIGHT = 1500, 1000
CLOSE = """(text => {
  const word = [...document.querySelectorAll('*')].filter(n => !n.childElementCount && n.offsetWidth > 0
    && n.textContent.startsWith(text)).pop();
  let box = word; while (box && box.querySelectorAll('button').length < 3) box = box.parentElement;
  if (box) [...box.querySelectorAll('button')].pop().click();
})("You're viewing a shared view"),
document.querySelector('[data-component-id="mlflow.assistant.chat_panel.close"]')?.click(),
[...document.querySelectorAll('*')].filter(n => n.childElementCount < 2 && n.textContent.startsWith('Path: file:'))
  .forEach(n => { n.style.visibility = 'hidden' })"""
"""Closes the note on the shared view and the assistant's panel, and hides where this machine keeps an artifact."""
NO_TOOLBARS = "document.head.insertAdjacentHTML('beforeend', '<style>.modebar-container{display:none}</style>')"


@contextmanager
def server(database: str) -> Iterator[str]:
    """An MLflow server on the store; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("mlflow")), "server", "--workers", "1", "--host", "127.0.0.1"]
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    process = subprocess.Popen(
        [*command, "--port", str(port), "--backend-store-uri", database],
        env={**os.environ, **quiet},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(f"http://127.0.0.1:{port}/health"):
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError("the MLflow server did not start")
            time.sleep(1)
        yield f"http://127.0.0.1:{port}/"
    finally:
        os.killpg(process.pid, 15)
        process.wait()


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


async def shoot(tab: Tab, address: str, name: str, ready: str, height: int = HEIGHT) -> None:
    """One page, when the JavaScript condition `ready` holds, without panels that are not the page."""
    await tab.open("about:blank")  # else another fragment of the same page loads nothing
    await tab.open(address, WIDTH, height)
    await tab.until(ready, LONGEST_WAIT_SECONDS)
    await tab.run(NO_TOOLBARS)
    await asyncio.sleep(4)
    await tab.run(CLOSE)
    await asyncio.sleep(4)
    path = IMAGES / f"tracking-{name}.png"
    path.write_bytes(await tab.picture())
    print(f"{path} {path.stat().st_size // 1000} kB")


def says(text: str) -> str:
    """The condition that the page shows `text`."""
    return f"document.body.innerText.includes({text!r})"


async def main(place: str) -> None:
    """All pages."""
    from mlflow import MlflowClient

    store = Store.of(place)
    client = MlflowClient(store.uri)
    run = client.search_runs(
        [found.experiment_id for found in client.search_experiments()], "tags.ablation = 'full'", max_results=1
    )[0]
    experiment = client.get_experiment(run.info.experiment_id)
    view = next(key for key in experiment.tags if key.startswith("mlflow.sharedViewState."))
    model = client.search_model_versions(f"run_id = '{run.info.run_id}'")[0].name
    chart = store.links(experiment.experiment_id, view.removeprefix("mlflow.sharedViewState."))[-1].partition("#")[2]
    IMAGES.mkdir(exist_ok=True)
    with server(store.uri) as address, tempfile.TemporaryDirectory() as profile:
        async with chromium(find_chromium(), Path(profile)) as tab:
            await shoot(tab, f"{address}#{chart}", "charts", "document.querySelectorAll('.js-plotly-plot').length > 3")
            await shoot(tab, f"{address}#/models/{model}", "versions", says("Version 1"), 1150)
            diff = f"#/experiments/{experiment.experiment_id}/runs/{run.info.run_id}/artifacts/diffs/v001.diff.txt"
            await shoot(tab, f"{address}{diff}", "diff", says("@@"), 800)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
