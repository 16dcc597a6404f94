"""From what the user typed to a checked configuration, from a run's end to an exit code. The only importer of Hydra.

Hydra composes, pydantic decides: `load` validates once and nothing below it sees a DictConfig.
"""

import hashlib
import io
import os
import re
import shutil
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, redirect_stderr
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar

import hydra
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import HydraException, OverrideParseException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from pydantic import ValidationError

from coevolve.config import RunConfig
from coevolve.config_models import Config
from coevolve.errors import CoevolveError, ConfigError, Interrupted, Stopped, UserError, boundary
from coevolve.explain import denied_file, explain_hydra, explain_validation, flat_keys, named_failure, one_line
from coevolve.interrupts import loading
from coevolve.replaying import as_recorded, asks_replay

C = TypeVar("C", bound=Config)
ConfigName = Literal[
    "config",
    "doctor",
    "track",
    "bench",
    "curate",
    "transfer",
    "report",
    "estimate",
    "export",
    "train",
    "convert",
    "evaluate",
]
SWEEP_VARIABLE = "COEVOLVE_SWEEP"
MULTIRUN = frozenset({"-m", "--multirun"})
FREE_MAPPINGS = ("seeds.columns", "seeds.defaults", "benchmark.columns", "benchmark.defaults", "training.arguments")
"""Mappings whose keys are the user's own; Hydra would want a plus sign before each."""
SHORT: Mapping[str, Mapping[str, str]] = {"curate": {"seeds": "seeds.paths"}}
"""Command -> short key -> key: Hydra takes the name of a group for a choice of its options."""
PLAIN = re.compile(r"[\w\-./:+@$ ]*", re.ASCII)
"""Values that Hydra reads as they stand."""
LISTS = ("harness", "apart_from", "runs", "seeds.paths", "benchmarks")
"""Keys whose value may be several words by comma."""


class JobFailed(Exception):
    """One job of a sweep failed and has said why; the others go on."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def conf_dir() -> Path:
    """The folder of configuration: conf/ of the checkout, else the copy inside the installed package."""
    package = Path(__file__).resolve().parent
    for folder in (package.parents[1] / "conf", package / "_conf"):
        if (folder / "config.yaml").is_file():
            return folder
    raise ConfigError(f"there is no conf/ beside {package}; install the package again")


def load(composed: DictConfig, kind: type[C]) -> C:
    """The composed configuration, checked whole against `kind`. Raises ConfigError with one line."""
    return _checked(_plain(composed), kind)


def _plain(composed: DictConfig) -> dict[str, Any]:
    try:
        plain: Any = OmegaConf.to_container(composed, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        raise ConfigError(explain_hydra(str(error), ())) from error
    return dict(plain)


def _checked(plain: dict[str, Any], kind: type[C]) -> C:
    try:
        return kind.model_validate(plain)
    except ValidationError as error:
        raise ConfigError(explain_validation(error, plain)) from error


def compose(*overrides: str, config_name: ConfigName = "config") -> DictConfig:
    """What the command line `overrides` compose to, inside a Hydra job too. Raises Hydra's own errors."""
    job = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    try:
        with hydra.initialize_config_dir(str(conf_dir()), version_base="1.3"):
            return hydra.compose(config_name, overrides=_freed(_meant(overrides, config_name)))
    finally:
        GlobalHydra.instance().hydra = job


def run_folder(config: RunConfig) -> Path:
    """Where the run lives: `<outputs>/<name>`, or named by experiment, arm, domain, solver, gate and seed."""
    if config.name is not None:
        parts = Path(config.name).parts
        if not parts or Path(config.name).is_absolute() or ".." in parts:
            raise ConfigError(f"name={config.name!r}: give a folder name below outputs={config.outputs}")
        return Path(config.outputs, *parts).absolute()
    arm = f"{config.ablation.name}-{config.domain.name}-{config.solver.name}-{config.gate.name}-seed{config.seed}"
    return Path(config.outputs, config.experiment, arm).absolute()


def entry(main: Callable[[C], int], kind: type[C], config_name: ConfigName = "config") -> NoReturn:
    """Run a script: compose, check, call `main`, exit with its code.

    Exit codes: 0 done; 2 the input is wrong, one line on stderr; 3 stopped with everything saved; 1 anything else.
    """
    with ExitStack() as composing:
        composing.enter_context(loading())
        sys.exit(_composed(main, kind, config_name, composing))


def _composed(main: Callable[[C], int], kind: type[C], config_name: ConfigName, composing: ExitStack) -> int:
    """Exit code of the script; `composing` is closed where the job or the sweep begins."""
    os.environ["HYDRA_FULL_ERROR"] = "1"  # Hydra then raises instead of printing and exiting
    sys.argv[1:] = _freed(_meant(sys.argv[1:], config_name))
    _check_flags()
    _check_launcher(sys.argv[1:])
    if _sweeps(sys.argv[1:]):
        os.environ.setdefault(SWEEP_VARIABLE, sweep_name(sys.argv[1:]))
        composing.close()
    codes: list[int] = []

    def job(composed: DictConfig) -> None:
        composing.close()
        code = _run(main, composed, kind)
        if code and _swept() and not _in_this_process():
            raise JobFailed(code)
        codes.append(code)

    try:
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name=config_name)(job)()
    except JobFailed as failure:
        return failure.code
    except (HydraException, OmegaConfBaseException) as error:
        _say(_explained(error, config_name))
        return 2
    except UserError as error:
        _say(one_line(error))
        return 2
    except KeyboardInterrupt:
        _say("interrupted")
        return 3
    except BrokenPipeError:  # the reader of our output has gone, as in `--help | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return max(codes, default=0)


def sweep_name(arguments: list[str]) -> str:
    """A name that is the same whenever the same sweep is started again, whatever the order of its words."""
    words = sorted(word for word in arguments if word not in MULTIRUN)
    experiment = next((word.split("=")[1] for word in words if word.startswith("experiment=")), "sweep")
    return f"{experiment.replace(',', '+')}-{hashlib.sha256(' '.join(words).encode()).hexdigest()[:8]}"


def _sweeps(words: Sequence[str]) -> bool:
    return not MULTIRUN.isdisjoint(words)


def _swept() -> bool:
    return bool(HydraConfig.get().mode == RunMode.MULTIRUN)


def _in_this_process() -> bool:
    """Whether the launcher runs one job after the other here: then failures need not travel, and Ctrl-C is for all."""
    return str(HydraConfig.get().launcher["_target_"]).endswith(".BasicLauncher")


def _run(main: Callable[[C], int], composed: DictConfig, kind: type[C]) -> int:
    if _swept():
        job = HydraConfig.get()
        print(f"job {job.job.num}: {' '.join(job.overrides.task)}", file=sys.stderr)
    try:
        with boundary(CoevolveError, "unexpected"):
            with loading():
                plain = _plain(composed)
                if asks_replay(plain):
                    plain = as_recorded(plain, _plain(hydra.compose("config")), HydraConfig.get().overrides.task)
                config = _checked(plain, kind)
            return main(config)
    except KeyboardInterrupt:
        _say("interrupted")
        raise SystemExit(3) from None
    except CoevolveError as error:
        failure = named_failure(error) or named_failure(error.__cause__)
        code = _exit_code(error, failure)
        if isinstance(failure, Interrupted) and _swept() and _in_this_process():
            raise SystemExit(code) from None
        return code


def _exit_code(error: CoevolveError, failure: CoevolveError | None) -> int:
    if failure is None and (denied := denied_file(error.__cause__)):
        _say(f"{denied.filename}: {denied.strerror}; give a place that you may use, or change its permissions")
        return 2
    if failure is None:
        traceback.print_exception(error.__cause__ or error)
        return 1
    _say(one_line(failure))
    return 2 if isinstance(failure, UserError) else 3 if isinstance(failure, Stopped) else 1


def _meant(words: Sequence[str], config_name: ConfigName) -> list[str]:
    """The words with the command's short keys written out."""
    short = SHORT.get(config_name, {})
    parts = [word.partition("=") for word in words]
    return [f"{short.get(key, key)}{mark}{value}" for key, mark, value in parts]


def _freed(words: Sequence[str]) -> list[str]:
    starts = tuple(f"{mapping}{mark}" for mapping in FREE_MAPPINGS for mark in ".=")
    swept = _sweeps(words)
    words = [_quoted(word if swept else _listed(word), swept) for word in words]
    return [f"++{word}" if word.startswith(starts) else word for word in words]


def _quoted(word: str, swept: bool) -> str:
    """`word` with quotes around a value of letters that Hydra reads in quotes only: `path=José (copy).csv`."""
    key, mark, value = word.partition("=")
    if not mark or key.startswith("-") or PLAIN.fullmatch(value) or value.startswith(("[", "{", "'", '"')):
        return word
    try:
        OverridesParser.create().parse_override(word)
    except HydraException:
        inner = value.replace("'", "\\'")
        return f"{key}='" + (inner.replace(",", "','") if swept else inner) + "'"
    return word


def _listed(word: str) -> str:
    """`harness=a,b` as the list it is; under -m the commas mean a sweep."""
    key, _, value = word.partition("=")
    if key not in LISTS or "," not in value or value.startswith(("[", "'", '"')):
        return word
    parts = (f"'{part}'" for part in value.split(","))
    return f"{key}=[{','.join(parts)}]"


def _say(line: str) -> None:
    print(f"coevolve: {line}", file=sys.stderr)


def _check_flags() -> None:
    """Refuse an unknown flag in one line, before Hydra's parser prints its usage."""
    said = io.StringIO()
    try:
        with redirect_stderr(said):
            given = get_args_parser().parse_args([word for word in sys.argv[1:] if word != "--version"])
    except SystemExit:
        last = said.getvalue().strip().rpartition("\n")[2]
        _say(f"{last.rpartition('error: ')[2]} (keys are given as key=value)")
        sys.exit(2)
    if given.multirun and given.cfg:
        _say("--cfg shows one run's configuration: leave -m out")
        sys.exit(2)


def _check_launcher(words: Sequence[str]) -> None:
    """Refuse Slurm where there is none; what submitit says there is a traceback."""
    if _sweeps(words) and "execution=slurm" in words and shutil.which("srun") is None:
        _say("execution=slurm: there is no srun here; start the sweep where Slurm is, or take execution=local")
        sys.exit(2)


def _explained(error: Exception, config_name: ConfigName) -> str:
    if isinstance(error, OverrideParseException):
        return f"cannot read {error.override!r}: give key=value, quoted where the value has brackets or commas"
    plain: Any = OmegaConf.to_container(compose(config_name=config_name), resolve=False)
    groups = [folder.name for folder in conf_dir().iterdir() if folder.is_dir()]
    return explain_hydra(str(error), [*groups, *flat_keys(plain)])
