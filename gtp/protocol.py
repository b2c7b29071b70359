"""Text of the Go Text Protocol, version 2: a line becomes a `Command`, an answer becomes a framed reply."""

import re
from dataclasses import dataclass

# Control characters that the preprocessing drops (all but TAB and LF).
CONTROL_CHARACTERS = {code: None for code in (*range(9), *range(11, 32), 127)}

# An id is a number that stands alone or is glued to the letters of the command name ("12name").
ID_PATTERN = re.compile(r"([0-9]+)(?: +|(?=[A-Za-z_-])|$)")

INTERRUPT_LINE = "# interrupt"


class GtpError(Exception):
    """A command cannot be carried out; the text is the answer after `?`."""


@dataclass(frozen=True)
class Command:
    """One command: its id as it was written ("" if none), its name and its arguments."""

    id: str
    name: str
    args: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All arguments in one piece."""
        return " ".join(self.args)


def clean_line(line: str) -> str:
    """Return a line after the preprocessing: no control characters, no comment, blanks for tabs."""
    return line.translate(CONTROL_CHARACTERS).partition("#")[0].replace("\t", " ").strip(" \n")


def parse_line(line: str) -> Command | None:
    """Return the command on a line, None for a line without one (blank, a comment, an id alone)."""
    text = clean_line(line)
    command_id = ""
    match = ID_PATTERN.match(text)
    if match:
        command_id, text = match.group(1), text[match.end():]
    words = [word for word in text.split(" ") if word]
    return Command(command_id, words[0], tuple(words[1:])) if words else None


def is_interrupt(line: str) -> bool:
    """Tell whether a raw line is GoGui's comment that asks for the best move found so far."""
    return line.strip() == INTERRUPT_LINE


def clean_text(text: str) -> str:
    """Return an answer that cannot break the framing: no control characters, no empty lines inside."""
    lines = text.replace("\t", " ").translate(CONTROL_CHARACTERS).strip("\n").split("\n")
    return "\n".join(line.rstrip() or " " for line in lines) if text.strip() else ""


def format_reply(status: str, command_id: str, text: str) -> str:
    """Return the whole reply with the blank line that ends it; status is "=" or "?", a blank follows always."""
    return f"{status}{command_id} {clean_text(text)}\n\n"


def format_success(command_id: str, text: str = "") -> str:
    """Return the reply to a command that was carried out."""
    return format_reply("=", command_id, text)


def format_beginning(command_id: str) -> str:
    """Return the first line of a reply whose other lines come while the command runs."""
    return f"={command_id}\n"


def format_end(text: str) -> str:
    """Return the last line, if any, of a reply whose first lines were written before, and the blank line."""
    text = clean_text(text)
    return f"{text}\n\n" if text else "\n"


def format_failure(command_id: str, message: str) -> str:
    """Return the reply to a command that failed; the message is made one line."""
    return format_reply("?", command_id, " ".join(message.split()))
