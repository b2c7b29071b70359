"""The hyper-parameters of learning in one place; edit these rather than pass options.

Those that options have are these options' defaults: a supervised run is not gone on with under others. Of the rest,
those that CONSTANTS in nn/training/checkpoint.py names are told where a network's run goes on with other ones.
"""

# Optimizer: SGD with Nesterov momentum.
SL_LEARNING_RATE = 0.01
RL_LEARNING_RATE = 0.01
REINFORCE_LEARNING_RATE = 1e-3
MOMENTUM = 0.9
WEIGHT_DECAY = 1e-4

# Muon, for the 3x3 convolutions; the other weights keep the two above.
MUON_MOMENTUM = 0.95
MUON_WEIGHT_DECAY = 0.01

# AdamW and NAdam: decay per step as a share of the learning rate.
ADAM_WEIGHT_DECAY = 0.01

# How far sharpness-aware minimization (--optimizer sam) looks around: the length of its climb in weight space.
SAM_RADIUS = 0.05

# Positions per gradient step; halve it when GPU memory runs out.
BATCH_SIZE = 256

# Supervised learning: epochs, and from which of them (counted from 0) which learning rate holds. TamaGo stores each
# position in its 8 symmetries; here each pass draws one of them, so that 8 passes are one of these epochs.
EPOCHS = 15
PASSES_PER_EPOCH = 8
LEARNING_SCHEDULE = {"learning_rate": {5: 0.001, 8: 0.0001, 10: 0.00001}}

# Positions per npz file.
DATA_SET_SIZE = BATCH_SIZE * 4000

# Weight of the value loss beside the policy loss.
SL_VALUE_WEIGHT = 0.02
RL_VALUE_WEIGHT = 1.0

# Reinforcement learning: newest games of self-play to learn from, and positions drawn from each of them for one pass.
WINDOW_SIZE = 300000
POSITIONS_PER_GAME = 8

# Self-play: visits per move, worker processes, games per cycle.
SELF_PLAY_VISITS = 16
NUM_SELF_PLAY_WORKERS = 4
NUM_SELF_PLAY_GAMES = 10000

# Visits of the moves that are not searched in full, where there are such.
FAST_VISITS = 4

# Memory of each worker for what the network has said, megabytes.
SELF_PLAY_CACHE_MB = 64
