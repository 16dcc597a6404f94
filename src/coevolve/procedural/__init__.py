"""A chat model that needs no weights: exact constructions answer every role's prompt and payload."""
