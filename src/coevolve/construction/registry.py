"""All constructions by the name a hint uses."""

from collections.abc import Mapping

from coevolve.construction.base import Construction
from coevolve.construction.code_output import CodeOutput
from coevolve.construction.code_tests import CodeTests
from coevolve.construction.distractor import Distractor
from coevolve.construction.inplace import Sharpen, Tighten
from coevolve.construction.inversion import Inversion
from coevolve.construction.letters import Letters
from coevolve.construction.numeric import (
    CaseSplit,
    Constraint,
    Digits,
    FormulaChain,
    Percentage,
    SecondUnknown,
    UnitChange,
)
from coevolve.construction.symbolic import FollowAny

CONSTRUCTIONS: Mapping[str, Construction] = {
    construction.name: construction
    for construction in (
        FollowAny(),
        SecondUnknown(),
        Constraint(),
        Inversion(),
        CaseSplit(),
        Digits(),
        Percentage(),
        FormulaChain(),
        UnitChange(),
        Letters(),
        Distractor(),
        CodeOutput(),
        CodeTests(),
        Sharpen(),
        Tighten(),
    )
}
