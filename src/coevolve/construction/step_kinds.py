"""Every step that can stand at a question's end, whichever construction wrote it."""

from coevolve.construction.grammar import StepKind
from coevolve.construction.inversion import Inversion
from coevolve.construction.numeric import (
    CaseSplit,
    Constraint,
    Digits,
    FollowOn,
    FormulaChain,
    Percentage,
    SecondUnknown,
    UnitChange,
)

STEP_KINDS: tuple[StepKind, ...] = (
    *(kind for family in (FollowOn, SecondUnknown, Constraint, Inversion, CaseSplit) for kind in family.kinds),
    *(kind for family in (Digits, Percentage, FormulaChain, UnitChange) for kind in family.kinds),
)
