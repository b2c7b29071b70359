"""What cannot be written is named, and costs no more than itself."""

import errno
import os
import sys
from pathlib import Path

import pytest

from common import atomic_file
from common.atomic_file import write_atomically
from common.exit_status import EXIT_FAILED, EXIT_REFUSED, status_of
from common.lock_file import take_lock
from common.print_console import print_err, print_out
from tests.marks import unix_only


def test_a_file_that_cannot_be_written_is_named_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    for path in (tmp_path / "folder", tmp_path / "file" / "x"):
        with pytest.raises(OSError, match=".") as caught:
            write_atomically(path, b"content")
        assert str(caught.value.filename) in str(path) and caught.value.filename2 is None
    assert sorted(found.name for found in tmp_path.iterdir()) == ["file", "folder"]


@unix_only
def test_a_file_in_the_place_of_a_folder_is_told_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(NotADirectoryError) as caught:
        write_atomically(tmp_path / "file" / "below", b"new")
    assert caught.value.filename == str(tmp_path / "file" / "below")
    assert [path.name for path in tmp_path.iterdir()] == ["file"] and (tmp_path / "file").read_text() == "here"


@unix_only
def test_a_link_and_a_device_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "file")
    write_atomically(tmp_path / "link", b"content")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "far" / "file").read_bytes() == b"content"
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(tmp_path / "pipe", b"content")
    assert (tmp_path / "pipe").is_fifo() and os.read(reader, 100) == b"content"
    os.close(reader)


@unix_only
@pytest.mark.parametrize("mask", [0o077, 0o002])
def test_a_file_may_be_read_by_those_whom_the_user_lets_read(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_atomically(tmp_path / "file", b"content")
    finally:
        os.umask(before)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~mask


def test_on_windows_a_file_that_is_open_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def replace(source: str, target: Path) -> None:
        tries.append(target)
        if len(tries) < 3:
            raise PermissionError(errno.EACCES, "Access is denied", str(source))
        os.rename(source, target)

    monkeypatch.setattr(atomic_file.os, "replace", replace)
    with pytest.raises(PermissionError) as caught:
        write_atomically(tmp_path / "file", b"content")
    assert caught.value.filename == str(tmp_path / "file") and not list(tmp_path.iterdir())
    monkeypatch.setattr(atomic_file, "OPEN_SECONDS", 2.0)
    write_atomically(tmp_path / "file", b"content")
    assert (tmp_path / "file").read_bytes() == b"content" and len(tries) == 3


@pytest.mark.parametrize(("number", "status"), [
    (errno.ENOSPC, EXIT_FAILED), (errno.EIO, EXIT_FAILED), (errno.ENOENT, EXIT_REFUSED), (errno.EACCES, EXIT_REFUSED)])
def test_a_full_disk_is_no_wrong_option(number: int, status: int) -> None:
    assert status_of(OSError(number, "reason")) == status


@unix_only
def test_a_file_system_without_locks_keeps_nobody_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EIO]

    def refuse(*_: object) -> None:
        raise OSError(answers.pop(0), "reason")

    monkeypatch.setattr("fcntl.flock", refuse)
    while len(answers) > 1:
        lock = take_lock(tmp_path / "lock")
        assert lock is not None and not lock.closed
        lock.close()
    with pytest.raises(OSError, match="reason"):
        take_lock(tmp_path / "lock")


class FullDisk:
    """A terminal that is a file on a full disk."""

    def write(self, _: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        """There is nothing to flush."""


def test_diagnostics_that_cannot_be_written_are_lost_and_answers_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", FullDisk())
    print_err("a move")
    monkeypatch.setattr(sys, "stdout", FullDisk())
    with pytest.raises(OSError, match="No space"):
        print_out("= D4")
