"""Who this program is: the answers to GTP `name`, `version` and `protocol_version`.

Hiyoko (ひよこ) is the chick that hatches from TamaGo, the egg. Entering a tournament with a changed engine?
Change PROGRAM_NAME here.
"""

PROGRAM_NAME = "Hiyoko"
PROTOCOL_VERSION = "2"

# Lizzie reads the second number and wants 15 or more.
#
# 0.15.0  board, SGF, DualNet, PUCT and sequential halving, GTP, supervised training, match tool
VERSION = "0.15.0"
