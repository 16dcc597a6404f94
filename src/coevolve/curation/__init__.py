"""From what a user gives to screened original seeds, with every change and refusal on record."""
