"""Numbers that every floor of the house knows."""

# Size of the board when nothing else is said.
BOARD_SIZE = 9
MIN_BOARD_SIZE = 2
MAX_BOARD_SIZE = 19

# Points given to White when nothing else is said.
DEFAULT_KOMI = 7.0
# The most that either side may be given in a record.
MAX_KOMI = float(MAX_BOARD_SIZE**2)

# Width of the ring of off-board cells.
OB_SIZE = 1

# Cells of the largest padded board.
MAX_CELLS = (MAX_BOARD_SIZE + 2 * OB_SIZE) ** 2

# Moves that are not points. PASS is an off-board cell, so it can never be mistaken for a point.
PASS = 0
RESIGN = -1
# The "previous move" of a position that was set up or is empty.
NO_MOVE = -2

# Column letters; index 0 is the off-board ring, and GTP leaves out the letter I.
GTP_X_COORDINATE = "IABCDEFGHJKLMNOPQRSTUVWXYZ"
