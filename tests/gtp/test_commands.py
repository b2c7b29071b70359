"""What each command answers and changes; failures change nothing."""

import json
from pathlib import Path

import pytest

from board.constant import BOARD_SIZE
from gtp.commands.gogui import ANALYZE_COMMANDS
from nn.model_file import ModelFileError
from program import PROGRAM_NAME, VERSION
from tests.gtp.players import Controller, FakeEvaluator

# Standard commands and TamaGo's (without the analysis dialects).
COMMANDS = """
    protocol_version name version known_command list_commands quit boardsize clear_board komi get_komi play undo genmove
    reg_genmove showboard fixed_handicap place_free_handicap set_free_handicap time_settings time_left
    kgs-time_settings final_score final_status_list loadsgf gogui-interrupt gogui-analyze_commands cputime
    tamago-readsgf tamago-dump_tree showstring showpattern eye self-atari hash_record display_policy_black
    display_policy_white display_policy_black_color display_policy_white_color gg-undo
"""


@pytest.fixture
def gtp() -> Controller:
    return Controller()


def test_administration(gtp: Controller):
    assert gtp.raw("0 protocol_version") == "=0 2\n\n"
    assert gtp.ask("name") == PROGRAM_NAME
    assert gtp.ask("version") == VERSION
    assert int(VERSION.split(".")[1]) >= 15
    assert Controller(override_version="9.99").ask("version") == "9.99"
    assert gtp.ask("NAME") == PROGRAM_NAME
    assert float(gtp.ask("cputime")) > 0


def test_list_commands_is_complete_and_begins_as_clients_expect(gtp: Controller):
    reply = gtp.raw("list_commands")
    assert reply is not None and reply.startswith("= protocol_version\n")
    listed = gtp.ask("list_commands").split("\n")
    assert set(COMMANDS.split()) <= set(listed)
    assert len(listed) == len(set(listed))
    assert all(gtp.ask(f"known_command {name}") == "true" for name in listed)
    assert gtp.ask("known_command analyze") == gtp.ask("known_command") == "false"


def test_every_listed_command_answers_with_one_frame_whatever_its_arguments(
    gtp: Controller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)  # printsgf writes files
    for name in gtp.ask("list_commands").split("\n"):
        for args in ("", " b", " 1", " x y z", " -1 -1 -1", " w D4 3", " \u00e9 \udcff", " 99999999999999999999"):
            reply = gtp.raw(f"7 {name}{args}")
            assert reply is not None and reply[:2] in ("=7", "?7"), (name, args)
            assert reply.endswith("\n\n") and "\n\n" not in reply[:-1], (name, args)
            assert "internal error" not in reply, (name, args, reply)


@pytest.mark.parametrize("line, message", [
    ("foo", "unknown command"),
    ("boardsize", "boardsize not an integer"),
    ("boardsize nine", "boardsize not an integer"),
    ("boardsize 9.0", "boardsize not an integer"),
    ("boardsize 1_0", "boardsize not an integer"),
    ("boardsize 1", "unacceptable size (sizes that can be played: 2 to 19)"),
    ("boardsize 20", "unacceptable size (sizes that can be played: 2 to 19)"),
    ("boardsize -9", "unacceptable size (sizes that can be played: 2 to 19)"),
    ("boardsize 9 7", "unacceptable size: only square boards can be played"),
    ("rectangular_boardsize 9 7", "unacceptable size: only square boards can be played"),
    ("rectangular_boardsize 9", "boardsize not two integers"),
    ("komi", "komi not a float"),
    ("komi abc", "komi not a float"),
    ("komi nan", "komi not a float"),
    ("komi inf", "komi not a float"),
    ("komi 1_0", "komi not a float"),
    ("komi 1e308", "unacceptable komi"),
    ("komi -1e7", "unacceptable komi"),
    ("play", "invalid color or coordinate"),
    ("play b", "invalid color or coordinate"),
    ("play x d4", "invalid color or coordinate"),
    ("play b i5", "invalid color or coordinate"),
    ("play b z3", "invalid color or coordinate"),
    ("play b a10", "invalid color or coordinate"),
    ("play b a0", "invalid color or coordinate"),
    ("play b E5", "illegal move"),
    ("play w E5", "illegal move"),
    ("genmove", "invalid color"),
    ("genmove green", "invalid color"),
    ("reg_genmove", "invalid color"),
    ("fixed_handicap 2", "board not empty"),
    ("fixed_handicap two", "handicap not an integer"),
    ("place_free_handicap 2", "board not empty"),
    ("set_free_handicap A1 B1", "board not empty"),
    ("set_free_handicap A1 A1", "repeated vertex"),
    ("set_free_handicap A1 pass", "invalid coordinate"),
    ("gg-undo 2", "cannot undo"),
    ("gg-undo -1", "cannot undo"),
    ("time_settings", "not three integers"),
    ("time_settings a b c", "not three integers"),
    ("time_settings -1 0 0", "not three integers"),
    ("time_settings 1 2", "not three integers"),
    ("time_settings 1 1 1.5", "not three integers"),
    ("time_left", "invalid color"),
    ("time_left green 3 0", "invalid color"),
    ("time_left b", "invalid time"),
    ("time_left b soon", "invalid time"),
    ("time_left b 3 x", "invalid time"),
    ("kgs-time_settings", "invalid time settings"),
    ("kgs-time_settings fischer 1 2", "invalid time settings"),
    ("kgs-time_settings byoyomi 1 2", "invalid time settings"),
    ("final_status_list", "missing status"),
    ("final_status_list sleeping", "invalid status"),
    ("loadsgf", "missing filename"),
    ("loadsgf there-is-no-such-file.sgf", "cannot load file"),
    ("loadsgf .", "cannot load file"),
    ("loadsgf a\u0000b", "cannot load file"),
    ("tamago-readsgf", "missing SGF text"),
    ("tamago-readsgf (;SZ[9]B[aa", "cannot load file"),
    ("tamago-readsgf (;SZ[9];B[aa];W[aa])", "cannot load file"),
    ("tamago-readsgf (;SZ[23])", "cannot load file"),
    ("eye", "invalid coordinate"),
    ("showpattern pass", "invalid coordinate"),
    ("tamago-dump_tree", "no search tree"),
])
def test_failures_say_why_and_change_nothing(gtp: Controller, line: str, message: str):
    gtp.ask("time_settings 30 10 5")
    gtp.ask("play b E5")
    before = gtp.state()
    assert gtp.fail(line) == message
    assert gtp.state() == before


def test_playouts_play_the_sizes_that_the_network_cannot(capsys: pytest.CaptureFixture[str]):
    gtp = Controller(any_size=False, make=OneSize)
    gtp.ask("play b E5")
    assert gtp.fail("boardsize 20") == "unacceptable size (sizes that can be played: 2 to 19)"
    assert len(gtp.engine.board.get_move_history()) == 1
    gtp.ask("boardsize 6")
    assert gtp.ask("genmove b") != "pass"
    assert capsys.readouterr().err.count("6x6: UCT by playouts, without a network (model/model.bin plays 9)\n") == 1
    gtp.ask("tamago-readsgf (;SZ[5])")
    assert "no network of size 5" in gtp.fail("display_policy_black")  # what only a network tells
    gtp.ask("rectangular_boardsize 9 9")
    gtp.ask("genmove b")
    network = gtp.engine.evaluator
    assert isinstance(network, OneSize) and network.calls and "9x9" not in capsys.readouterr().err


class OneSize(FakeEvaluator):
    """A network of 9x9."""

    def __init__(self, board_size: int) -> None:
        if board_size != BOARD_SIZE:
            raise ModelFileError("x.bin", f"no network of size {board_size}")
        super().__init__(board_size)


def test_komi_and_clocks_survive_a_new_game(gtp: Controller):
    gtp.ask("komi 6.5")
    gtp.ask("time_settings 77 5 3")
    gtp.ask("time_left w 33 0")
    for command in ("boardsize 9", "clear_board", "boardsize 5", "clear_board"):
        gtp.ask(command)
        assert gtp.ask("get_komi") == "6.5"
        clocks = gtp.engine.time.clocks.values()
        assert [clock.main_left for clock in clocks] == [77, 33]


@pytest.mark.parametrize("text, value", [("0", "0.0"), ("-3.25", "-3.25"), ("1e3", "1000.0"), ("6.7500", "6.75"),
                                         ("375.5", "375.5"), ("-1e6", "-1000000.0")])
def test_any_finite_komi(gtp: Controller, text: str, value: str):
    gtp.ask(f"komi {text}")
    assert gtp.ask("get_komi") == value


def test_play_takes_either_color_at_any_time(gtp: Controller):
    for line in ("play b D4", "play BLACK e4", "play Black pass", "play b PASS", "play w F4", "play w resign",
                 "play W g4"):
        gtp.ask(line)
    assert gtp.engine.board.moves == 7


def play_ko(gtp: Controller) -> None:
    """Play a ko that Black has just taken."""
    for line in ("b C5", "w D5", "b B4", "w E4", "b C3", "w D3", "b D4", "w C4"):
        gtp.ask(f"play {line}")


def test_simple_ko_and_suicide_are_illegal(gtp: Controller):
    play_ko(gtp)
    assert gtp.fail("play b D4") == "illegal move"
    gtp.ask("play b A9")
    gtp.ask("play w J1")
    gtp.ask("play b D4")
    for line in ("clear_board", "play b A2", "play b B1"):
        gtp.ask(line)
    assert gtp.fail("play w A1") == "illegal move"


@pytest.mark.parametrize("superko", [True, False])
def test_superko_is_an_option(superko: bool, capfd: pytest.CaptureFixture):
    gtp = Controller(superko=superko)
    play_ko(gtp)
    for line in ("b pass", "w pass"):
        gtp.ask(f"play {line}")
    if superko:
        assert gtp.fail("play b D4") == "illegal move"
    else:
        gtp.ask("play b D4")
        assert "repeats an earlier position" in capfd.readouterr().err


def test_undo(gtp: Controller):
    assert gtp.fail("undo") == "cannot undo"
    play_ko(gtp)
    gtp.ask("genmove b")
    gtp.ask("undo")
    assert gtp.fail("play b D4") == "illegal move"
    gtp.ask("gg-undo 8")
    assert gtp.engine.board.moves == 1
    gtp.ask("fixed_handicap 2")
    assert gtp.fail("undo") == "cannot undo"


@pytest.mark.parametrize("size, number, points", [
    (9, 2, "C3 G7"), (9, 3, "C3 C7 G7"), (9, 4, "C3 C7 G3 G7"), (9, 5, "C3 C7 E5 G3 G7"),
    (9, 9, "C3 C5 C7 E3 E5 E7 G3 G5 G7"), (19, 2, "D4 Q16"), (13, 4, "D10 D4 K10 K4"), (7, 4, "C3 C5 E3 E5"),
])
def test_fixed_handicap(gtp: Controller, size: int, number: int, points: str):
    gtp.ask(f"boardsize {size}")
    assert sorted(gtp.ask(f"fixed_handicap {number}").split()) == points.split()
    assert gtp.engine.board.get_to_move().name == "WHITE"
    assert gtp.ask("get_komi") == "7.0"


@pytest.mark.parametrize("size, number", [(9, 1), (9, 10), (9, 0), (9, -2), (7, 5), (8, 5), (5, 2), (6, 4)])
def test_fixed_handicap_that_does_not_exist(gtp: Controller, size: int, number: int):
    gtp.ask(f"boardsize {size}")
    assert gtp.fail(f"fixed_handicap {number}") == "invalid number of stones"


@pytest.mark.parametrize("number", [2, 7, 13, 40, 80])
def test_free_handicap_has_the_exact_number(gtp: Controller, number: int):
    points = gtp.ask(f"place_free_handicap {number}").split()
    assert len(set(points)) == number
    assert sum(stone == 1 for stone in gtp.engine.board.get_board_data(0)) == number
    assert gtp.fail("place_free_handicap 2") == "board not empty"


def test_free_handicap_limits(gtp: Controller):
    for number in (1, 81, 0):
        assert gtp.fail(f"place_free_handicap {number}") == "invalid number of stones"
    assert gtp.fail("set_free_handicap A1") == "invalid number of stones"
    gtp.ask("set_free_handicap a1 J9 e5")
    assert gtp.engine.board.get_to_move().name == "WHITE"


def test_showboard_is_in_the_reply(gtp: Controller, capfd: pytest.CaptureFixture):
    gtp.ask("play b A1")
    reply = gtp.ask("showboard").split("\n")
    assert reply[0] == "Move : 2"
    assert [line for line in reply if line.startswith(" 1|")] == [" 1| @ + + + + + + + + |1"]
    assert "A B C D E F G H J" in reply[-1]


def test_information(gtp: Controller):
    for point in ("A2", "B1", "B2"):
        gtp.ask(f"play b {point}")
    assert gtp.ask("eye A1") == "black"
    assert gtp.ask("eye E5") == "none"
    assert gtp.ask("showpattern A1").split("\n")[-1] == "###"
    assert "stones" in gtp.ask("showstring")
    assert len(gtp.ask("hash_record").split("\n")) == 4
    assert gtp.ask("self-atari").split("\n")[0] == "black"


def test_policy_graphics(gtp: Controller):
    gtp.ask("boardsize 5")
    gtp.ask("play w C3")
    assert gtp.ask("gogui-analyze_commands").split("\n") == list(ANALYZE_COMMANDS)
    for color in ("black", "white"):
        numbers = [row.split() for row in gtp.ask(f"display_policy_{color}").split("\n")]
        assert [len(row) for row in numbers] == [5] * 5
        assert numbers[2][2] == '""'
        assert sum(float(cell.strip('"') or 0) for row in numbers for cell in row) == pytest.approx(96, abs=2)
        assert max(len(cell) for row in numbers for cell in row) <= len('"100"')
        colors = [row.split() for row in gtp.ask(f"display_policy_{color}_color").split("\n")]
        assert colors[2][2] == '""' and colors[0][0] == '"#0000FF"'
        assert [len(row) for row in colors] == [5] * 5


def test_dump_tree(gtp: Controller):
    gtp.ask("genmove b")
    dump = json.loads(gtp.ask("tamago-dump_tree"))
    assert dump["dump_version"] == 2 and dump["tree"]["num_nodes"] > 1
    gtp.ask("clear_board")
    assert gtp.fail("tamago-dump_tree") == "no search tree"


RECORD = "(;GM[1]FF[4]SZ[9]KM[5.5];B[ee];W[gc];B[];W[cg](;B[aa])(;B[bb];W[dd]))"


@pytest.mark.parametrize("number, moves", [("", 5), (" 1", 0), (" 2", 1), (" 3", 2), (" 6", 5), (" 99", 5)])
def test_loadsgf_goes_to_the_position_before_a_move(gtp: Controller, tmp_path: Path, number: str, moves: int):
    file = tmp_path / "game.sgf"
    file.write_bytes(RECORD.replace(";", "\r\n;").encode())
    gtp.ask("komi 0.5")
    gtp.ask(f"loadsgf {file}{number}")
    assert len(gtp.engine.board.get_move_history()) == moves
    assert gtp.ask("get_komi") == "5.5"


@pytest.mark.parametrize("komi", ["KM[375]", "KM[]", ""])
def test_loadsgf_keeps_the_komi_where_the_record_tells_none(gtp: Controller, tmp_path: Path, komi: str):
    file = tmp_path / "game.sgf"
    file.write_text(f"(;SZ[9]{komi}HA[2]AB[cc][gg];W[ee])")
    gtp.ask("komi 0.5")
    gtp.ask(f"loadsgf {file}")
    assert gtp.ask("get_komi") == "0.5"


def test_loadsgf_does_not_look_behind_the_move(gtp: Controller, tmp_path: Path):
    """Stones set up later, and illegal moves, are no hindrance; who begins is known before the first move, too."""
    file = tmp_path / "later.sgf"
    file.write_text("(;SZ[9];W[dd];B[ee];AW[ff];B[dd])")
    for number, moves in (1, 0), (2, 1), (3, 2):
        gtp.ask(f"loadsgf {file} {number}")
        assert len(gtp.engine.board.get_move_history()) == moves
    gtp.ask(f"loadsgf {file} 1")
    assert gtp.engine.board.get_to_move().name == "WHITE"
    assert gtp.fail(f"loadsgf {file} 4") == gtp.fail(f"loadsgf {file}") == "cannot load file"


def test_loadsgf_set_up_and_sides(gtp: Controller, tmp_path: Path):
    file = tmp_path / "handi cap.sgf"
    file.write_text("(;SZ[5]HA[2]AB[bb][dd]AW[cc])")
    gtp.ask("komi 0.5")
    gtp.ask(f"loadsgf {file}")
    board = gtp.engine.board
    assert (board.board_size, board.get_to_move().name, board.moves) == (5, "BLACK", 1)
    assert gtp.ask("get_komi") == "0.5"
    assert sum(stone != 0 for stone in board.get_board_data(0)) == 3
    assert gtp.fail("undo") == "cannot undo"
    file.write_text("(;SZ[5]HA[2]AB[bb][dd])")
    gtp.ask(f"loadsgf {file}")
    assert gtp.engine.board.get_to_move().name == "WHITE"
    file.write_text("(;SZ[5]AB[bb][dd]PL[B])")
    gtp.ask(f'loadsgf "{file}"')
    assert gtp.engine.board.get_to_move().name == "BLACK"
    assert gtp.fail(f"loadsgf {file} 0") == "invalid move number"


def test_readsgf(gtp: Controller):
    gtp.ask(f"tamago-readsgf {RECORD}")
    assert len(gtp.engine.board.get_move_history()) == 5


def test_a_number_sign_in_a_text_of_the_record_begins_no_comment(gtp: Controller):
    record = "(;SZ[9]GN[Ladder: a(#3) - b(#7)];B[ee];W[gc])"
    for line in f"tamago-readsgf {record}", f"tamago-readsgf\t{record}\r", f"tamago-readsgf {record} # (;SZ[5])":
        gtp.ask("clear_board")
        gtp.ask(line)
        assert gtp.engine.board.board_size == 9 and len(gtp.engine.board.get_move_history()) == 2
    assert gtp.fail(f"tamago-readsgf # {record}") == "missing SGF text"


def test_a_record_without_a_size_is_of_the_board_that_is_there(tmp_path: Path) -> None:
    gtp, path = Controller(size=5), tmp_path / "a.sgf"
    path.write_text("(;GM[1];B[aa])")
    gtp.ask("boardsize 5")
    gtp.ask(f"loadsgf {path}")
    assert gtp.engine.board.board_size == 5 and gtp.engine.board.get_move_history()
