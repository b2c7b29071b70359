"""What the network runs on: the device, and the formats that are fast there."""

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

import torch

from common.exit_status import EXIT_FAILED, ProgramError
from common.gpu import say_no_gpu
from common.race import measure_gain
from nn.constant import HALF_GAIN, TOWER_CHANNELS, TOWER_POSITIONS, TOWER_SIZE

Net = TypeVar("Net", bound=torch.nn.Module)

ROUNDS = 10
# How torch begins to say that a GPU, its driver or a library for it fails, and how much of that a user is told.
GPU_ERRORS = ("CUDA error", "CUDA driver", "cuDNN error", "HIP error", "The NVIDIA driver", "Found no NVIDIA driver",
              "No CUDA GPUs", "Unexpected error from cudaGetDeviceCount")
REASON_LENGTH = 200


class Machine(NamedTuple):
    """What torch can calculate on: threads of the CPU, name of the first CUDA device (None: there is none), number."""

    threads: int
    gpu: str | None
    gpus: int = 0


def describe_machine() -> Machine:
    """Return what torch can calculate on here."""
    gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return Machine(torch.get_num_threads(), torch.cuda.get_device_name(0) if gpus else None, gpus)


def name_gpus(numbers: Iterable[int]) -> str:
    """Return the names of the CUDA devices of these numbers, empty for none."""
    return " and ".join(torch.cuda.get_device_name(number) for number in numbers)


def find_missing(gpus: Iterable[int], there: int) -> str:
    """Return why CUDA devices of these numbers cannot be used where `there` are, and what to do; empty if they can."""
    missing = [number for number in gpus if number >= there]
    if not missing:
        return ""
    known = f"torch finds {there} CUDA devices, 0 to {there - 1}" if there > 1 else (
        "torch finds one CUDA device, 0" if there else "torch finds no CUDA device")
    return f"--gpus {missing[0]}: {known}; name others, or leave --gpus out to use the CPU"


def get_gpus(numbers: Iterable[int]) -> list[torch.device]:
    """Return the CUDA devices of these numbers; raises ValueError where one is missing."""
    if reason := find_missing(numbers, describe_machine().gpus):
        raise ValueError(reason)
    return [torch.device("cuda", number) for number in numbers]


@contextmanager
def tell_gpu_failure(advice: str) -> Iterator[None]:
    """Turn a failure of a GPU in the block into a ProgramError, want of memory into one with this advice."""
    try:
        yield
    except torch.cuda.OutOfMemoryError:
        raise ProgramError(f"no memory is left on the GPU: {advice}", EXIT_FAILED) from None
    except RuntimeError as error:
        if not str(error).startswith(GPU_ERRORS):
            raise
        reason = str(error).splitlines()[0][:REASON_LENGTH]
        raise ProgramError(f"the GPU failed ({reason}): try again, or say --use-gpu false", EXIT_FAILED) from error


def get_torch_device(use_gpu: bool, index: int = 0) -> torch.device:
    """Return CUDA device number `index` if it is asked for and there, else the CPU; the first one who asks is told."""
    if use_gpu and torch.cuda.is_available() and index < torch.cuda.device_count():
        return torch.device("cuda", index)
    if use_gpu and index == 0:
        say_no_gpu()
    return torch.device("cpu")


def to_channels_last(network: Net, device: torch.device) -> Net:
    """Move a network to a device, its convolutions in the memory format that is fastest there (also on CPUs)."""
    moved = network.to(device)
    return moved.to(memory_format=torch.channels_last)  # type: ignore[call-overload]


def has_native_bf16() -> bool:
    """Tell whether this CPU multiplies bfloat16 matrices in hardware (elsewhere bfloat16 is ten times slower)."""
    checks = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return any(check() for check in checks if check is not None)


@functools.cache
@torch.inference_mode()
def is_half_faster() -> bool:
    """Tell whether a convolution of the usual size is faster in bfloat16 than in float32 on this CPU; takes 20 ms.

    Intel's processors without a matrix unit (AMX), which virtual machines often hide, understand bfloat16 but are
    slower with it: 0.62 of float32's speed on a Xeon of model 207, where others have 2 to 4 times.
    """
    def make_way(dtype: torch.dtype) -> Callable[[], torch.Tensor]:
        features, weight = (torch.ones(shape, dtype=dtype).to(memory_format=torch.channels_last)
                            for shape in ((TOWER_POSITIONS, TOWER_CHANNELS, TOWER_SIZE, TOWER_SIZE),
                                          (TOWER_CHANNELS, TOWER_CHANNELS, 3, 3)))
        return lambda: torch.nn.functional.conv2d(features, weight, padding=1)

    return measure_gain(make_way(torch.bfloat16), make_way(torch.float32), ROUNDS) >= HALF_GAIN


def choose_half_dtype(device: torch.device) -> torch.dtype | None:
    """Return the half-precision format that is fast on a device, or None where float32 is faster."""
    if device.type == "cuda":
        with torch.cuda.device(device):  # torch tells it of the current one
            return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    return torch.bfloat16 if device.type == "cpu" and has_native_bf16() and is_half_faster() else None
