"""Who has won where the rest is settled: the twin on positions of 3x3, drawings, and proofs in the tree."""
from __future__ import annotations

import pytest

from board.constant import NO_MOVE, PASS
from board.go_board import GoBoard
from board.state import KO_POS, new_state, turn_to
from board.stone import Stone
from mcts.params import SearchLimit, Selection, Tactics
from mcts.tactics.ending import EndingWork, mark_open, new_ending_work, prove_ending, solve_ending
from mcts.tree import MCTSTree
from mcts.tree_arrays import EXPANDED, LOST, UNPROVEN, WON
from tests.gtp.players import Controller
from tests.mcts.evaluators import ConstantEvaluator, HashEvaluator
from tests.mcts.trees import Game, child_of, small_params, snapshot
from tests.reference.naive_ending import AllGames, Position
from tests.reference.slow_board import SlowBoard, parse_diagram


def outcome_of(work: EndingWork, slow: SlowBoard, stones: Position, komi: float, nodes: int) -> tuple[int, int]:
    """Return what is proven for Black, who begins, and the move."""
    size = slow.size
    board, places = GoBoard(size), [x + y * (size + 2) for x, y in slow.points]
    board.set_up([pos for pos, stone in zip(places, stones, strict=True) if stone == "b"],
                 [pos for pos, stone in zip(places, stones, strict=True) if stone == "w"])
    position = new_state(size)
    position.buffer[:] = board.state.buffer
    turn_to(position, int(Stone.BLACK))
    return prove_ending(work, position.buffer, komi, nodes)


@pytest.fixture(scope="module")
def games() -> AllGames:
    """All positions of 3x3."""
    return AllGames(3)


@pytest.mark.parametrize(("komi", "can_win"), [(0.5, True), (9.0, False)])  # all points of the board are a draw
def test_what_is_proven_can_be_forced_on_3x3(games: AllGames, komi: float, can_win: bool) -> None:
    forced = {WON: games.forced_wins("b", komi), LOST: games.forced_wins("w", komi)}
    work, found, moves = new_ending_work(3), dict.fromkeys((UNPROVEN, WON, LOST), 0), 0
    for stones in list(games.score)[::2]:  # every second position, for time
        outcome, move = outcome_of(work, games.board, stones, komi, 100)
        found[outcome] += 1
        if outcome == UNPROVEN:
            continue
        assert (stones, "b", False) in forced[outcome]
        if move != NO_MOVE:
            moves += 1
            games.board.grid = dict(zip(games.board.points, stones, strict=True))
            after = games.board.after((move % 5, move // 5), "b")
            assert after is not None and (tuple(after[0].values()), "w", False) in forced[WON]
    assert found[LOST] > 500 and (found[WON] > 500 and moves > 500 if can_win else not found[WON])


# Black takes five stones at C4, before they take his corner.
CAPTURE = """
. X O X X
X X . X .
O X O X X
O O O O X
X . O O O
"""
# Who plays E4 first wins the race.
CONNECT = """
. O . O .
O O O O .
X X X X O
. X X O O
X . X O O
"""
# Black captures at E2, and lives.
LIVE = """
O O O O O
X O X O O
X X X O O
X X X X .
. X O O O
"""


@pytest.mark.parametrize(("diagram", "color", "move"), [(CAPTURE, "b", "C4"), (CONNECT, "w", "E4"), (LIVE, "b", "E2")])
def test_the_move_that_wins_is_found_and_told(diagram: str, color: str, move: str) -> None:
    game = Game.from_diagram(diagram, color, komi=0.5)
    found = solve_ending(game.board, game.stone)
    assert found.winner == game.stone
    assert game.board.coordinate.convert_to_gtp_format(found.move) == move
    other = Stone.get_opponent_color(game.stone)
    game.play(game.point(found.move))
    assert solve_ending(game.board, other) == (Stone.get_opponent_color(other), NO_MOVE)


def test_nothing_is_claimed_after_a_pass_that_the_next_one_would_end() -> None:
    game = Game.from_diagram(CAPTURE, "b", komi=0.5)
    game.play((3, 2))  # C4: Black has won, but by stones that he has yet to take
    assert solve_ending(game.board, Stone.WHITE).winner == Stone.BLACK
    game.play(None, "b")
    assert solve_ending(game.board, Stone.WHITE).winner == Stone.EMPTY


def test_nothing_is_claimed_that_hangs_on_a_ko() -> None:
    game = Game.random(5, 26, seed=255, komi=0.5)
    assert game.board.state.info[KO_POS] and game.stone == Stone.BLACK  # who may take it back after a move elsewhere
    assert solve_ending(game.board, Stone.BLACK).winner == Stone.EMPTY


def test_no_more_positions_are_looked_at_than_may_be() -> None:
    game = Game.from_diagram(CONNECT, "w", komi=0.5)
    assert [solve_ending(game.board, game.stone, nodes).winner for nodes in (1, 2, 100)] == [
        Stone.EMPTY, Stone.EMPTY, Stone.WHITE]


# Black's wall and White's, with two eyes each, and what lies between.
BETWEEN = """
. X . . . O .
. X . . . O .
. X . X . O .
X X . O . O O
. X . . . O .
. X . . . O .
. X . . . O .
"""


def test_points_are_open_that_are_certain_for_nobody() -> None:
    work, game = new_ending_work(7), Game.from_diagram(BETWEEN, "b")
    work.state.buffer[:] = game.board.state.buffer
    assert mark_open(work) == 19
    between = [pos for pos in range(81) if work.is_open[pos]]
    assert {pos % 9 for pos in between} == {3, 4, 5} and len(between) == 21


def test_what_was_looked_at_for_black_decides_nothing_about_white() -> None:
    game = Game.from_diagram(CAPTURE.translate(str.maketrans("XO", "OX")), "w", komi=-10.5)
    game.play((3, 2))
    assert solve_ending(game.board, Stone.BLACK).winner == Stone.WHITE
    game.play(None, "w")  # now Black's pass would end the game
    assert solve_ending(game.board, Stone.BLACK).winner == Stone.EMPTY

    board, color = GoBoard(3, -2.0), Stone.BLACK
    for name in ("C2", "C3", "A2", "C1", "pass", "A3", "B1", "B2", "A1", "C1"):
        board.put_stone(board.coordinate.convert_from_gtp_format(name), color)
        color = Stone.get_opponent_color(color)
    assert {solve_ending(board, Stone.BLACK, nodes).winner for nodes in (100, 5000)} == {Stone.WHITE}


# On 3x3: Black's A3 would win for certain if the board had not looked so before, and nothing else does.
REPEATING = ("B2 C1 A3 C2 pass B3 A1 B1 C3 pass pass pass A2 B1 pass C2 C1 pass B1 pass C2 B3 B2 pass C3 "
             "A2 A1")


def test_a_move_that_would_repeat_a_position_of_the_game_proves_nothing() -> None:
    board, color = GoBoard(3, -0.5, check_superko=True), Stone.BLACK
    move = board.coordinate.convert_from_gtp_format("A3")
    for name in REPEATING.split():
        board.put_stone(board.coordinate.convert_from_gtp_format(name), color)
        color = Stone.get_opponent_color(color)
    same = GoBoard(3, -0.5)
    black, white = ([p for p, stone in enumerate(board.board) if stone == side] for side in (Stone.BLACK, Stone.WHITE))
    same.set_up(black, white)
    assert solve_ending(same, Stone.BLACK) == (Stone.BLACK, move)
    assert board.is_superko(move, Stone.BLACK) and solve_ending(board, Stone.BLACK).winner == Stone.EMPTY

    for ahead in (0, 4):
        params = small_params(4, selection=Selection(solve=True), tactics=Tactics(0, 100), ahead=ahead)
        tree = MCTSTree(ConstantEvaluator(3, {PASS: 5.0}), 3, params)
        tree.search(board, Stone.WHITE, SearchLimit(1))
        assert tree.arrays.node_kind[child_of(tree.root, PASS).index] == EXPANDED


def test_komi_decides() -> None:
    board = Game.from_diagram(CAPTURE, "b").board
    winners = []
    for komi in (-25.5, 0.5, 20.5, 25.5):
        board.set_komi(komi)
        winners.append(solve_ending(board, Stone.BLACK).winner)
    assert winners == [Stone.BLACK, Stone.BLACK, Stone.EMPTY, Stone.WHITE]


@pytest.mark.parametrize(("diagram", "color", "move"), [(CAPTURE, "b", "C4"), (CONNECT, "w", "E4"), (LIVE, "b", "E2")])
@pytest.mark.parametrize("batch_size", [1, 4])
def test_the_tree_plays_what_is_proven(diagram: str, color: str, move: str, batch_size: int) -> None:
    def search(tactics: Tactics) -> tuple[str, int]:
        """Return the move of four visits, and what is proven of the root."""
        game = Game.from_diagram(diagram, color, komi=0.5)
        params = small_params(batch_size, selection=Selection(solve=True), tactics=tactics)
        tree = MCTSTree(ConstantEvaluator(5), 5, params)
        result = tree.search(game.board, game.stone, SearchLimit(4))
        return game.board.coordinate.convert_to_gtp_format(result.pos), int(tree.arrays.node_kind[tree.root.index])

    assert search(Tactics(2000, 2000)) == (move, WON)
    assert search(Tactics())[1] != WON


@pytest.mark.parametrize(("diagram", "color"), [(CAPTURE, "w"), (CONNECT, "b"), (LIVE, "b")])
def test_what_is_proven_of_a_position_that_was_evaluated_ahead_is_known_when_a_visit_comes_to_it(
        diagram: str, color: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcts.params.LEAST_LEAVES", 1)
    game, trees = Game.from_diagram(diagram, color, komi=0.5), []
    solving = {"selection": Selection(solve=True), "tactics": Tactics(0, 2000)}
    for params in (small_params(1, **solving), small_params(4, **solving, visits_per_leaf=10**6, ahead=8)):
        tree = MCTSTree(HashEvaluator(5), 5, params)
        tree.search(game.board, game.stone, SearchLimit(60, strict=True))
        children = [tree.root.child(i) for i in range(tree.root.num_children)]
        kinds = [-1 if child is None else int(tree.arrays.node_kind[child.index]) for child in children]
        trees.append((kinds, int(tree.arrays.node_kind[tree.root.index]), snapshot(tree.root)))
    assert trees[0] == trees[1] and max(trees[0][0]) >= LOST


def test_what_was_proven_is_not_said_of_the_root_of_another_game() -> None:
    game = Game.from_diagram(CAPTURE, "b", komi=0.5)
    tree = MCTSTree(ConstantEvaluator(5), 5, small_params(1, selection=Selection(solve=True), tactics=Tactics(0, 2000)))
    for board, outcome in ((game.board, True), (GoBoard(5, 0.5), False)):
        tree.search(board, Stone.BLACK, SearchLimit(12))
        assert (tree.arrays.node_kind[tree.root.index] >= LOST) == outcome


def test_a_node_that_is_won_by_a_move_not_visited_yet_has_all_contenders() -> None:
    game = Game.from_diagram(CAPTURE, "w", komi=0.5)
    tree = MCTSTree(ConstantEvaluator(5), 5, small_params(1, selection=Selection(solve=True), tactics=Tactics(0, 2000)))
    tree.search(game.board, game.stone, SearchLimit(12))
    won = [node for i in range(tree.root.num_children)
           if (node := tree.root.child(i)) and tree.arrays.node_kind[node.index] == WON]
    assert won and all(len(node.contenders()) == node.num_children and node.most_visited() >= 0 for node in won)


def test_the_command_answers_for_both_colors() -> None:
    gtp = Controller(size=5)
    assert gtp.ask("hiyoko-ending") == "black first: not settled\nwhite first: not settled"
    gtp.ask("komi 0.5")
    size, black, white = parse_diagram(CONNECT)
    board = GoBoard(size)
    for color, points in (("b", black), ("w", white)):
        for x, y in points:
            gtp.ask(f"play {color} {board.coordinate.convert_to_gtp_format(x + y * (size + 2))}")
    assert gtp.ask("hiyoko-ending") == "black first: black wins, E4\nwhite first: white wins, E4"
