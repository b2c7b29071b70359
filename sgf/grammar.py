"""From the bytes of an SGF file to the property maps of its games' main lines.

The tokens are sgfmill's; what is added here is the choice of an encoding, and finding the next game after a
broken one.
"""

import codecs
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from sgfmill import sgf_grammar

# A raw property map: identifier -> raw values (UTF-8, escapes left in).
Node = dict[str, list[bytes]]

# What a game is skipped for; the summary of a run counts these.
MALFORMED = "malformed"
WRONG_SIZE = "other board size"
SET_UP = "unsupported set-up"
ILLEGAL = "illegal move"
OTHER_PLAYER = "of other players"
NO_MOVES = "no moves"
TOO_LONG = "too long"
UNREADABLE = "unreadable file"

# Encodings that programs declare without keeping to them: other bytes are Latin-1 there, not damaged letters.
ALPHABETIC = ("utf-8", "utf8", "ascii", "us-ascii", "latin-1", "latin1", "iso-8859-1")
DECLARED_ENCODING = re.compile(rb"CA\s*\[([^\]]{1,40})\]")
# Declared encodings that stand for one with more letters, by their names in Python's codecs: rare letters of names.
WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949", "big5": "cp950", "shift_jis": "cp932"}
# Letters of Shift_JIS that texts of Windows' Latin-1 hardly have: one that begins with no sign of that, one without an
# ASCII byte, one with another one behind it. Others may be a quotation mark there before a letter or a bracket.
SHIFT_JIS = re.compile(rb"[\x81-\x83\x8d\x8f\x90\x9d][\x40-\x7e]|[\x81-\x9f](?:[\x80-\xfc]|"
                       rb"[\x40-\x7e][\x81-\x9f\xe0-\xfc])")
# A line that starts a game rather than a variation: its first node has one of the root properties.
NEXT_GAME = re.compile(rb"[\r\n][ \t]*\(\s*;(?=[^;()]*\b(?:FF|GM|SZ)\s*\[)")
GAME = re.compile(rb"\(\s*;")
HEAD_BYTES = 4000
# Bytes of offending text that a message shows.
SHOWN = 20
# After so many games without an end, the others of a file are taken to end where the next one begins.
MOST_BROKEN = 20
OPEN, CLOSE = ("D", b"("), ("D", b")")


class SGFError(ValueError):
    """A game that cannot be used; `kind` is one of the constants above, the message says why in one line."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def to_utf8(data: str | bytes) -> bytes:
    """Return SGF data as UTF-8; what a text says of an encoding is what it was written in once.

    Of bytes are tried in order: a byte order mark, the declared encoding (CA), UTF-8, the one with more letters that
    the declared one stands for, Shift_JIS where bytes follow each other as in Latin-1 text they hardly do, the declared
    one without its damaged letters (where it is one of East Asia), Latin-1. This happens before parsing because a
    Shift_JIS letter may contain "]" or a backslash.
    """
    if isinstance(data, str):
        return data.encode("utf-8", "replace")
    if data.isascii():
        return data
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode()
    declared = None if data.startswith(codecs.BOM_UTF8) else DECLARED_ENCODING.search(data, 0, HEAD_BYTES)
    own = [declared.group(1).strip().decode("ascii", "replace")] if declared else []
    for name in (*own, "utf-8-sig", *map(widest, own), *(["cp932"] if SHIFT_JIS.search(data) else [])):
        with suppress(LookupError, ValueError):  # the latter also for a name with a NUL
            text = data.decode(name)
            # Letters of GB2312 have no ASCII bytes: one that was cut off before a bracket takes that into another one.
            if name in own or name != "gb18030" or text.count("]") == data.count(b"]"):
                return text.encode()
    if own and own[0].lower().replace("_", "-") not in ALPHABETIC:
        with suppress(LookupError, ValueError):  # a damaged letter spoils no others
            return data.decode(own[0], "replace").encode()
    return data.decode("latin-1").encode()


def widest(name: str) -> str:
    """Return the encoding that texts are written in which declare this one and have more letters than it."""
    with suppress(LookupError, ValueError):
        return WIDER.get(codecs.lookup(name).name, name)
    return name


def read_main_line(data: bytes) -> list[Node]:
    """Return the nodes of the main line of the first game; raises SGFError for no game or a broken one."""
    return _main_line(_tokenise(data, 0)[0])


def read_main_lines(data: bytes) -> Iterator[tuple[int, list[Node] | SGFError]]:
    """Yield the offset and the main line of every game, an SGFError in place of each broken one.

    After a game without an end reading goes on at the next line that starts one.
    """
    position, broken = 0, 0
    while True:
        start = max(data.find(b"(", position), 0)
        following = NEXT_GAME.search(data, start + 1) if broken >= MOST_BROKEN else None
        try:
            if following:  # to the end of the data each time would take as long as the square of the file
                tokens, end = _tokenise(data[position:following.start()], 0)
                end += position
            else:
                tokens, end = _tokenise(data, position)
        except SGFError as error:
            yield start, error
            broken += 1
            following = following or NEXT_GAME.search(data, start)
            if following is None:
                return
            position = following.start()
            continue
        try:
            yield start, _main_line(tokens)
        except SGFError as error:
            yield start, error
        position = end
        if GAME.search(data, position) is None:
            return


def has_several_games(data: bytes) -> bool:
    """Return whether SGF data has more than one game, a broken second one counted; the rest is not looked at."""
    return len(list(islice(read_main_lines(data), 2))) > 1


def _tokenise(data: bytes, start: int) -> tuple[list[tuple[str, bytes]], int]:
    """Return the tokens of the first game at or after `start` and where it ends; raises SGFError if it does not."""
    tokens, end = sgf_grammar.tokenise(data, start)
    if not tokens:
        raise SGFError(MALFORMED, "no SGF data found")
    if tokens.count(OPEN) != tokens.count(CLOSE):
        rest = data[end:end + SHOWN].strip()
        raise SGFError(MALFORMED, f"cannot read on at {show(rest)}" if rest else "unexpected end of SGF data")
    return tokens, end


def _main_line(tokens: list[tuple[str, bytes]]) -> list[Node]:
    """Return the nodes of a game's main line; raises SGFError where the tokens make no game."""
    nodes: list[Node] = []
    node: Node | None = None
    values: list[bytes] | None = None
    # The main line follows the first variation everywhere, so it ends where the first parenthesis closes.
    for kind, token in tokens[:tokens.index(CLOSE) + 1]:
        if kind == "V":
            if values is None:
                raise SGFError(MALFORMED, f"value [{show(token)}] without a property")
            values.append(token)
            continue
        if values is not None and not values:
            raise SGFError(MALFORMED, "property without a value")
        values = None
        if kind == "I":
            if node is None:
                raise SGFError(MALFORMED, f"property {show(token)} outside a node")
            values = node.setdefault(token.decode(), [])
        elif token == b";":
            node = {}
            nodes.append(node)
        elif token == b"(":
            node = None
    return nodes


def show(raw: bytes) -> str:
    """Return the start of raw text for a message of one line."""
    return " ".join(raw[:SHOWN].decode(errors="replace").split())
