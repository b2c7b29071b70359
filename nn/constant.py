"""What features and network must agree on."""

# Planes of the input; nn/feature.py says what each one shows.
INPUT_PLANES = 6

# Value class of a game whose result is not known.
UNKNOWN_VALUE = -1
