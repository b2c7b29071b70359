"""Whether there may be a GPU: told without torch, which takes seconds to import."""

import ctypes
import sys
from contextlib import suppress
from pathlib import Path

from common.print_console import print_err

# What torch loads on Linux before it finds a device of NVIDIA's, and where AMD's driver shows itself.
CUDA_DRIVER, AMD_DEVICE = "libcuda.so.1", Path("/dev/kfd")


def has_gpu_driver() -> bool:
    """Tell whether torch may find a GPU; False only where it cannot."""
    if sys.platform != "linux" or AMD_DEVICE.exists():
        return True
    with suppress(OSError):
        ctypes.CDLL(CUDA_DRIVER)
        return True
    return False


def say_no_gpu() -> None:
    """Tell the user that a GPU was asked for in vain."""
    print_err("No CUDA device found: using the CPU (say --use-gpu false to silence this line).")
