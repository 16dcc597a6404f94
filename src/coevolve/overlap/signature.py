"""MinHash of a template, for finding texts with much wording in common without comparing all pairs."""

from rensa import RMinHash

from coevolve.overlap.text import Form, runs

SIGNATURE = 128
BANDS = 32
"""Of pairs that share half of their word pairs, 87 % meet in a band of four; of those that share 70 %, all do."""
SHINGLE = 2


def signature(form: Form) -> RMinHash:
    """MinHash of the template's word pairs."""
    made = RMinHash(num_perm=SIGNATURE, seed=1)
    made.update([" ".join(pair) for pair in runs(form.template, SHINGLE)])
    return made
