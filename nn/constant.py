"""What features and network must agree on."""

# Planes of the input; nn/feature.py says what each one shows.
INPUT_PLANES = 6

# Value class of a game whose result is not known.
UNKNOWN_VALUE = -1

# Buffers of positions that self-play has: one is evaluated while the other is filled.
BUFFERS = 2

# bfloat16 is taken where it is so many times as fast; float32 is more exact.
HALF_GAIN = 1.1

# Names the number format that OpenVINO is to use, whatever is faster (nn/inference/openvino_precision.py).
PRECISION_VARIABLE = "HIYOKO_PRECISION"
PRECISIONS = ("int8", "bfloat16", "float32")

# What runtimes and number formats are measured with: so many 3x3 convolutions in a row, of the usual size.
TOWER_CHANNELS, TOWER_SIZE, TOWER_POSITIONS, TOWER_LAYERS, TOWER_ROUNDS = 64, 9, 8, 4, 5

# Filters of a pooled network: some of its blocks give a quarter of them another task.
LEAST_FILTERS = 4
