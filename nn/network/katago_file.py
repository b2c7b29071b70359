"""KataGo's model files, `.bin.gz` and `.txt.gz`: words, and blocks of numbers between them.

A file is a row of words separated by blanks. Where a layer has its weights, a text file goes on with numbers, a binary
one has "@BIN@" and little-endian float32. The reader believes nothing: every size is held against what is there and
what must fit, before anything is allocated.
"""

import math
import re
import zlib
from collections.abc import Sequence

import numpy as np
import torch

BINARY_MARK = b"@BIN@"
# Bytes a file may unpack to, and the largest sizes that a layer may have: ten times what is in use.
MAX_BYTES = 2 << 30
MAX_CHANNELS = 1 << 14
MAX_KERNEL = 19
LONGEST_WORD = 200
WORD = re.compile(rb"\s*(\S{1,%d})(?=\s|$)" % LONGEST_WORD)
BLANKS_BEFORE_MARK = 100


def unpack(content: bytes) -> bytes:
    """Return what a gzip file holds; raises ValueError."""
    packed = zlib.decompressobj(wbits=31)
    try:
        data = packed.decompress(content, MAX_BYTES)
    except zlib.error:
        raise ValueError("it is damaged: it cannot be unpacked") from None
    if packed.unconsumed_tail:
        raise ValueError(f"it unpacks to more than {MAX_BYTES >> 30} GiB")
    if not packed.eof:
        raise ValueError("it is cut off")
    return data


class KataGoFile:
    """Reads a file word by word and layer by layer; every method raises ValueError with the reason."""

    def __init__(self, content: bytes) -> None:
        """Unpack a file and go to its beginning."""
        self._data = unpack(content)
        self._binary = BINARY_MARK in self._data
        self._at = 0

    def word(self) -> str:
        """Return the next word."""
        match = WORD.match(self._data, self._at)
        if match is None:
            raise ValueError("it is cut off or damaged: a word is missing")
        self._at = match.end()
        return match.group(1).decode("ascii", errors="replace")

    def integer(self, what: str, least: int = 0, most: int = MAX_CHANNELS) -> int:
        """Return the next word as a number within bounds."""
        word = self.word()
        if not re.fullmatch(r"-?\d{1,9}", word):
            raise ValueError(f"{what} is no whole number: {word!r}")
        number = int(word)
        if not least <= number <= most:
            raise ValueError(f"{what} is {number}, not in {least}..{most}")
        return number

    def positive(self, what: str) -> float:
        """Return the next word as a positive number."""
        word = self.word()
        try:
            number = float(word)
        except ValueError:
            raise ValueError(f"{what} is no number: {word!r}") from None
        if not 0 < number < math.inf:
            raise ValueError(f"{what} is {number}, not positive")
        return number

    def zeros(self, count: int, what: str) -> None:
        """Read switches that must be off, as those of files from the future may not be."""
        for _ in range(count):
            if self.word() != "0":
                raise ValueError(f"{what} has an option that is not known here")

    def floats(self, name: str, shape: Sequence[int]) -> torch.Tensor:
        """Return the next block of numbers in the shape given."""
        count = math.prod(shape)
        numbers = self._binary_floats(name, count) if self._binary else self._text_floats(name, count)
        if not np.isfinite(numbers).all():
            raise ValueError(f"{name} holds infinite or undefined numbers")
        return torch.from_numpy(numbers).view(*shape)

    def _binary_floats(self, name: str, count: int) -> np.ndarray:
        start = self._data.find(BINARY_MARK, self._at, self._at + BLANKS_BEFORE_MARK)
        if start < 0:
            raise ValueError(f"the weights of {name} are not where they should be")
        start += len(BINARY_MARK)
        self._at = start + 4 * count
        if self._at > len(self._data):
            raise ValueError(f"it is cut off in the weights of {name}")
        return np.frombuffer(self._data, "<f4", count, start).astype(np.float32)

    def _text_floats(self, name: str, count: int) -> np.ndarray:
        parts, missing = [], count
        while missing:
            end = self._data.find(b"\n", self._at)
            end = len(self._data) if end < 0 else end
            words = self._data[self._at:end].split(None, missing)  # no more than are wanted: a line may be huge
            if len(words) > missing or (not words and end == len(self._data)):
                raise ValueError(f"{name} does not have the {count} weights that its shape asks for")
            if words:
                parts.append(words)
            missing -= len(words)
            self._at = end + 1
        numbers = [word for words in parts for word in words]
        try:
            if max(map(len, numbers)) > LONGEST_WORD:  # numpy gives all of them the room of the longest
                raise ValueError
            return np.array(numbers, dtype=bytes).astype(np.float32)
        except ValueError:
            raise ValueError(f"{name} has weights that are no numbers") from None

    def convolution(self, inputs: int, outputs: int | None = None) -> torch.Tensor:
        """Return the weights [outputs, inputs, height, width] of a convolution with so many channels."""
        name = self.word()
        height, width = (self.integer(f"the size of {name}", 1, MAX_KERNEL) for _ in range(2))
        if height != width or height % 2 == 0:
            raise ValueError(f"{name} is a {height}x{width} convolution; only odd squares are known here")
        found = self._channels(name, inputs, outputs)
        for _ in range(2):
            if self.integer(f"the dilation of {name}") != 1:
                raise ValueError(f"{name} is a dilated convolution, which is not known here")
        return self.floats(name, (height, width, inputs, found)).permute(3, 2, 0, 1).contiguous()

    def mixture(self, inputs: int, outputs: int) -> torch.Tensor:
        """Return the weights [outputs, inputs] of a convolution of 1x1 with so many channels."""
        weight = self.convolution(inputs, outputs)
        if weight.shape[2] != 1:
            raise ValueError("a head ends in a convolution that is not of 1x1, which is not known here")
        return weight.flatten(start_dim=1)

    def matrix(self, inputs: int, outputs: int | None = None) -> torch.Tensor:
        """Return the weights [outputs, inputs] of a matrix product with so many channels."""
        name = self.word()
        return self.floats(name, (inputs, self._channels(name, inputs, outputs))).t().contiguous()

    def _channels(self, name: str, inputs: int, outputs: int | None) -> int:
        """Read the numbers of channels, hold them against what must be, and return that of the outputs."""
        found = [self.integer(f"the number of channels of {name}", 1) for _ in range(2)]
        if found[0] != inputs or (outputs is not None and found[1] != outputs):
            raise ValueError(f"{name} has {found[0]} and {found[1]} channels, not {inputs} and {outputs or 'any'}")
        return found[1]

    def bias(self, channels: int) -> torch.Tensor:
        """Return so many biases [channels]."""
        name = self.word()
        if self.integer(f"the number of channels of {name}", 1) != channels:
            raise ValueError(f"{name} has not {channels} channels")
        return self.floats(name, (channels,))

    def norm(self, channels: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scale and shift, both [channels], that a batch norm with its statistics comes down to."""
        name = self.word()
        if self.integer(f"the number of channels of {name}", 1) != channels:
            raise ValueError(f"{name} has not {channels} channels")
        epsilon = self.positive(f"epsilon of {name}")
        has_scale, has_shift = (self.integer(f"a switch of {name}", 0, 1) for _ in range(2))
        mean, variance = self.floats(name, (channels,)).double(), self.floats(name, (channels,)).double()
        scale = self.floats(name, (channels,)) if has_scale else torch.ones(channels)
        shift = self.floats(name, (channels,)) if has_shift else torch.zeros(channels)
        if not (variance + epsilon > 0).all():
            raise ValueError(f"{name} has a negative variance")
        merged = scale.double() / torch.sqrt(variance + epsilon)
        return merged.float(), (shift.double() - merged * mean).float()
