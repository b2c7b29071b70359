"""Evaluating positions: planes in, policy and value out."""

import sys

# As if it were not installed: else OpenVINO tells its maker of every network that it converts, and of the machine, and
# a start waits for that, for seconds where the network is slow or away.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
