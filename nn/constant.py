"""What features and network must agree on."""

# Planes of the input; nn/feature.py says what each one shows.
INPUT_PLANES = 6
