"""Training data from runs: rows with their lineage, audited, in the forms that trainers load."""
