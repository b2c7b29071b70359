"""Who this program is: the answers to GTP `name`, `version` and `protocol_version`.

Hiyoko (ひよこ) is the chick that hatches from TamaGo, the egg. Entering a tournament with a changed engine?
Change PROGRAM_NAME here.
"""

PROGRAM_NAME = "Hiyoko"
PROTOCOL_VERSION = "2"

# Lizzie reads the second number and wants 15 or more.
# CHANGELOG.md tells what each version brought.
VERSION = "0.16.0"
