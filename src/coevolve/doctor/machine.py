"""This machine: python, extras, sandbox, tracking store, disk, GPUs."""

import asyncio
import os
import shutil
import socket
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from coevolve.config import RunConfig, VerificationConfig
from coevolve.doctor.checks import Check
from coevolve.errors import ToolError
from coevolve.llm.vllm_plan import find_gpus
from coevolve.sandbox.attacks import run_attacks
from coevolve.sandbox.sandbox import Sandbox
from coevolve.tracking import Store

EXTRAS: Mapping[str, str] = {
    "embedded": "xllamacpp",
    "vllm": "vllm",
    "train": "trl",
    "joblib": "hydra_plugins.hydra_joblib_launcher",
    "slurm": "hydra_plugins.hydra_submitit_launcher",
    "ray": "hydra_plugins.hydra_ray_launcher",
    "datasets": "datasets",
    "reasoning_gym": "reasoning_gym",
    "semantic": "onnxruntime",
    "pdf": "pypdf",
}
"""Extra -> the module that tells whether it is installed."""
LEAST_FREE_GB = 2.0


def machine_checks(config: RunConfig) -> list[Check]:
    """What a run needs of the machine it starts on."""
    return [
        ("python", _python),
        ("extras", _extras),
        ("sandbox", lambda: asyncio.run(_sandbox(config.verification))),
        ("tracking store", lambda: _store(Store.of(config.tracking.uri))),
        ("disk", lambda: _disk(Path(config.outputs))),
        ("gpu", _gpus),
    ]


def _python() -> str:
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        raise ToolError(f"Python {sys.version.split()[0]}: 3.11 to 3.13 are supported")
    return sys.version.split()[0]


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _extras() -> str:
    have = [extra for extra, module in EXTRAS.items() if _installed(module)]
    lack = [extra for extra in EXTRAS if extra not in have]
    return f"{', '.join(have) or 'none'} installed; pip install 'coevolve[…]' adds {', '.join(lack) or 'nothing more'}"


async def _sandbox(config: VerificationConfig) -> str:
    sandbox = Sandbox(config)
    try:
        kind, attacks = await sandbox.kind(), await run_attacks(sandbox)
    finally:
        await sandbox.close()
    through = [f"{attack.name} ({attack.detail})" for attack in attacks if not attack.contained]
    if through:
        raise ToolError(f"{kind}: {len(through)} of {len(attacks)} attacks got through: {'; '.join(through)}")
    return f"{kind} held against {len(attacks)} attacks"


def _store(store: Store) -> str:
    if store.root is None:
        address = urlsplit(store.uri)
        if address.scheme.startswith("http"):
            socket.create_connection((address.hostname or "", address.port or 80), timeout=5).close()
        return store.uri
    database = store.root / "mlflow.db"
    if not database.exists():
        if not os.access(_nearest_folder(store.root), os.W_OK):
            raise ToolError(f"{store.root} cannot be written; set tracking.uri=<folder or address>")
        return f"{store.root} (made at the first run)"
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)) as connection:
        (state,) = connection.execute("pragma quick_check(1)").fetchone()
    if state != "ok":
        raise ToolError(f"{database}: {state}; move it away, then re-log with scripts/track.py run=…")
    return str(database)


def _disk(outputs: Path) -> str:
    place = _nearest_folder(outputs)
    free = shutil.disk_usage(place).free / 1e9
    if free < LEAST_FREE_GB:
        raise ToolError(f"{free:.1f} GB free at {place}: at least {LEAST_FREE_GB:g} GB are needed")
    return f"{free:.0f} GB free"


def _nearest_folder(path: Path) -> Path:
    return next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())


def _gpus() -> str:
    gpus = find_gpus()
    if not gpus:
        return "none (nvidia-smi lists none); nothing here needs one but managed vLLM with vllm.device=gpu"
    return "; ".join(f"{gpu.number} {gpu.name}, {gpu.free_gib:.0f} of {gpu.total_gib:.0f} GiB free" for gpu in gpus)
