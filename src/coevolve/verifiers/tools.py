"""What verifiers work with: configuration, the sandbox, the checker processes."""

from typing import NamedTuple

from coevolve.config import VerificationConfig
from coevolve.sandbox.sandbox import Sandbox
from coevolve.verifiers.checkers import Checkers


class Tools(NamedTuple):
    """Handed to every verifier, plugins included; verifiers share the same processes."""

    config: VerificationConfig
    sandbox: Sandbox
    checkers: Checkers
