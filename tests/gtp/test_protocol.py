"""From bytes to commands and from answers to framed replies."""

import os
import queue

import pytest

from gtp.arguments import to_file_name
from gtp.protocol import (
    Command,
    clean_text,
    format_beginning,
    format_failure,
    format_success,
    is_interrupt,
    parse_line,
)
from gtp.reader import MAX_LINE_BYTES, InputLine, LineReader


@pytest.mark.parametrize(("data", "windows", "name"), [
    ("対局.sgf".encode(), False, os.fsdecode("対局.sgf".encode())),
    (b"\x91\xce.sgf", False, os.fsdecode(b"\x91\xce.sgf")),
    ("対局.sgf".encode(), True, "対局.sgf"), ("対局.sgf".encode("cp932"), True, "対局.sgf"),
])
def test_a_files_name_is_what_the_system_takes_for_it(data: bytes, windows: bool, name: str) -> None:
    line = read_all(data)[0][0].text
    assert to_file_name(line, windows, "cp932") == name


@pytest.mark.parametrize("line, expected", [
    ("name", Command("", "name")),
    ("  12   play  b\tD4  ", Command("12", "play", ("b", "D4"))),
    ("007 name\r", Command("007", "name")),
    ("12name", Command("12", "name")),
    ("43.3 name", Command("", "43.3", ("name",))),
    ("12,3 name", Command("", "12,3", ("name",))),
    ("-3 name", Command("", "-3", ("name",))),
    ("na\x00m\x07e\x7f", Command("", "name")),
    ("komi\t6.5 # the komi", Command("", "komi", ("6.5",))),
    ("play#b d4", Command("", "play")),
    ("\u2028name", Command("", "\u2028name")),
    ("loadsgf caf\udce9.sgf", Command("", "loadsgf", ("caf\udce9.sgf",))),
    ("", None), ("\r", None), ("   \t ", None), ("# a comment", None), ("12", None), ("12 # alone", None),
])
def test_lines(line: str, expected: Command | None):
    assert parse_line(line) == expected


@pytest.mark.parametrize("reply, expected", [
    (format_success(""), "= \n\n"),
    (format_success("5"), "=5 \n\n"),
    (format_beginning("5"), "=5\n"),
    (format_success("", "D4"), "= D4\n\n"),
    (format_success("5", "D4"), "=5 D4\n\n"),
    (format_success("5", "\na\n\n\nb\n\n"), "=5 a\n \n \nb\n\n"),
    (format_success("", "a\tb\r\x00\x1b"), "= a b\n\n"),
    (format_failure("5", "syntax error"), "?5 syntax error\n\n"),
    (format_failure("", "two\n\nlines"), "? two lines\n\n"),
])
def test_replies(reply: str, expected: str):
    assert reply == expected


def test_clean_text_keeps_indentation_of_diagrams():
    assert clean_text("Move : 1\n    A B\n 9| +") == "Move : 1\n    A B\n 9| +"


def test_interrupt_is_exactly_one_comment():
    assert is_interrupt("# interrupt\r")
    assert not is_interrupt("# interrupted")
    assert not is_interrupt("name # interrupt")


def read_all(*chunks: bytes) -> tuple[list[InputLine], LineReader]:
    source = iter((*chunks, b""))
    reader = LineReader(lambda: next(source))
    reader.start()
    lines = []
    while (line := reader.get(10)) is not None:
        lines.append(line)
    return lines, reader


def test_reader_cuts_chunks_into_lines():
    lines, reader = read_all(b"na", b"me\r\nversion\n\n# interrupt\nqu", b"it")
    assert [line.text for line in lines] == ["name\r", "version", "", "# interrupt", "quit"]
    assert [line.number for line in lines] == [1, 2, 3, 4, 5]
    assert reader.interrupted_at == 4
    assert reader.ended_at is not None and not reader.has_more() and reader.last_command == 5
    assert read_all(b"name\ngenmove b\n \n# done\n12\n")[1].last_command == 2


def test_reader_survives_any_bytes():
    lines, _ = read_all(bytes(range(256)) + b"\nname\n")
    assert lines[-1].text == "name"


def test_reader_bounds_memory():
    lines, _ = read_all(*[b"x" * 65536] * (2 * MAX_LINE_BYTES // 65536), b"\nname\n")
    assert lines[0].overlong and len(lines[0].text) == MAX_LINE_BYTES
    assert lines[1].text == "name" and not lines[1].overlong


def test_reader_says_when_nothing_came():
    blocked: queue.Queue[bytes] = queue.Queue()
    reader = LineReader(blocked.get)
    reader.start()
    with pytest.raises(queue.Empty):
        reader.get(0.01)
    blocked.put(b"")
    assert reader.get(10) is None
