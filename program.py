"""Who this program is: the answers to GTP `name`, `version` and `protocol_version`; and where it lies.

Hiyoko (ひよこ) is the chick that hatches from TamaGo, the egg. Entering a tournament with a changed engine?
Change PROGRAM_NAME here.
"""

from pathlib import Path

PROGRAM_NAME = "Hiyoko"
PROTOCOL_VERSION = "2"

# Lizzie reads the second number and wants 15 or more.
# CHANGELOG.md tells what each version brought.
VERSION = "0.34.0"

# Its scripts lie there, and model/ beside them.
PROGRAM_FOLDER = Path(__file__).resolve().parent
