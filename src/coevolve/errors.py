"""The failure vocabulary, and the one place where foreign failures are classified.

CoevolveError
  UserError             what the user gave is wrong: one line, exit 2
    ConfigError           a key, a value or a combination in the configuration
    DataError             a seeds, harness or run file (names file and line)
    EndpointError         a model endpoint, its key or its model name
    MissingExtra          an optional dependency that this configuration needs
  Stopped               a stop with everything saved: exit 3
    RunCeilingReached     the run's total ceiling
    Interrupted           Ctrl-C or SIGTERM
  CeilingReached        a generation, evaluation or chain ceiling: handled inside a round, never an exit
  ModelError            one call to a model gave nothing usable; an event and a cost, never a crash
    TruncatedReply        the reply met its token limit
    UnparsableReply       the reply does not fit the role's schema, repair turn included
    CallFailed            the call itself failed after its retries
  ToolError             a sandbox, checker or construction failed through no fault of the task
  ConstraintViolation   a harness edit outside the constraints (Gamma)
"""

from collections.abc import Iterator
from contextlib import contextmanager


class CoevolveError(Exception):
    """Base of every failure this package names."""


class UserError(CoevolveError):
    """What the user gave is wrong; the message says what, where and the cure on one line."""


class ConfigError(UserError):
    """A key, a value or a combination in the configuration is wrong."""


class DataError(UserError):
    """A file the user gave is wrong; the message names file and line."""


class EndpointError(UserError):
    """A model endpoint cannot serve this run (address, key, model name)."""


class MissingExtra(UserError):
    """An optional dependency is absent; the message holds the install command."""


class Stopped(CoevolveError):
    """The run stops here with everything saved; the same command continues it."""


class RunCeilingReached(Stopped):
    """The run's total ceiling is spent (I11)."""


class Interrupted(Stopped):
    """The user asked to stop."""


class CeilingReached(CoevolveError):
    """A ceiling of `scope` (generation, evaluation or chain) would be passed by the next call (I11)."""

    def __init__(self, scope: str, what: str) -> None:
        super().__init__(f"{scope} ceiling reached: {what}")
        self.scope = scope
        self.what = what


class ModelError(CoevolveError):
    """One model call gave nothing usable."""


class TruncatedReply(ModelError):
    """The reply met its token limit before it was complete."""


class UnparsableReply(ModelError):
    """The reply does not fit the role's schema."""


class CallFailed(ModelError):
    """The call failed after its retries: no outcome, so never a wrong answer (I8). One word a failed try."""

    def __init__(self, what: str, retries: tuple[str, ...] = ()) -> None:
        super().__init__(what)
        self.retries = retries


class ToolError(CoevolveError):
    """A sandbox, checker or construction failed through no fault of the task."""


class ConstraintViolation(CoevolveError):
    """A harness edit lies outside the constraints (Gamma, Eq. 5's first condition)."""


@contextmanager
def boundary(kind: type[CoevolveError], what: str) -> Iterator[None]:
    """Classify whatever escapes foreign code inside the block as `kind`; our own errors pass through."""
    try:
        yield
    except CoevolveError:
        raise
    except Exception as error:
        raise kind(f"{what}: {type(error).__name__}: {error}") from error
