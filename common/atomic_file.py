"""Files that are written completely or not at all."""

import glob
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

# Windows replaces no file that another program has open: how long to wait for that, and how long between two tries.
OPEN_SECONDS = 2.0 if os.name == "nt" else 0.0
RETRY_SECONDS = 0.05
# Of the name that a file has while it is written.
RANDOM_BYTES = 4


def write_atomically(path: str | Path, content: bytes) -> None:
    """Put `content` into a file so that a reader, or a full disk, only ever meets the old file or the whole new one.

    Once it returns, a power cut does not take the file back. Raises OSError; the old file is then untouched. Of a link
    it is the file that it leads to, and a device, such as /dev/stdout, stays one.
    """
    path = Path(path)
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            target.write_bytes(content)
            return
        _write(target, content)
    except OSError as error:
        error.filename, error.filename2 = str(path), None  # not the name that it has while it is written
        raise
    sync_folder(target.parent)


def remove_remains(path: Path) -> None:
    """Remove what programs that were killed while they wrote a file have left beside it; nobody may be writing it."""
    path = Path(os.path.realpath(path))
    for rest in path.parent.glob(f".{glob.escape(path.name)}.{'[0-9a-f]' * 2 * RANDOM_BYTES}"):
        with suppress(OSError):
            rest.unlink()


def _write(path: Path, content: bytes) -> None:
    """Put `content` into another file and give that the name."""
    with suppress(FileExistsError):  # a file has the folder's name: to open what is below it says so
        path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(RANDOM_BYTES)}")
    try:
        with open(temporary, "xb") as file:  # with the permissions of any new file; tempfile's are private
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        replace_file(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def replace_file(source: str | Path, target: str | Path) -> None:
    """Give a file the name of another one, which goes; raises OSError.

    What only looks at the other one, as a page or a virus scanner does, is waited for where the system asks for that.
    """
    deadline = time.monotonic() + OPEN_SECONDS
    while True:
        try:
            return os.replace(source, target)
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(RETRY_SECONDS)


def sync_folder(folder: Path) -> None:
    """Make new names in a folder last beyond a power cut, where the system can do that (Windows cannot)."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
