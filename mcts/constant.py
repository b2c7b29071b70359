"""Numbers of the search; what a user may tune stands in params.py."""

# The searches' numbers (mcts/searches.py).
PUCT, GUMBEL, UCT = 0, 1, 2

# The margin above which no move is bad (mcts/pruning.py): all stay in the tree.
KEEP_ALL = 1.0

# "No child yet" in the tree arrays.
NOT_EXPANDED = -1

# Gumbel AlphaZero (Danihelka et al., "Policy improvement by planning with Gumbel", ICLR 2022, section 3.4 and
# appendix F): scale of completed Q values in [0, 1], and the moves considered at the root.
C_VISIT = 50.0
C_SCALE = 1.0
MAX_CONSIDERED_NODES = 16

# Share of noise in the priors of the root, when AlphaZero plays itself (mcts/root_noise.py).
ROOT_NOISE = 0.25

# Defaults of the command line: visits per move, leaves per network call, nodes allocated at first.
CONST_VISITS = 1000
NN_BATCH_SIZE = 8
MCTS_TREE_SIZE = 65536

# Seconds that always stay on a clock, for what the controller charges on top of the thinking.
DEFAULT_LAG = 0.1

# A line of play is cut off at this many moves below the root.
MAX_DEPTH = 400

# Visits of a move of self-play: far below what 32 bits count of a tree's edges.
MAX_SELF_PLAY_VISITS = 10**6

# How many lines may be tried that find no new position, while a call is filled with positions evaluated ahead.
LOOKS = 24
