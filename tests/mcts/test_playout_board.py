"""What points weigh in a playout, kept up to date, is what a look at the whole board says; shapes and answers."""
from __future__ import annotations

import numpy as np
import pytest

from board.constant import PASS
from board.geometry import get_geometry
from board.pattern import eye_color_of_code, pattern_code
from board.state import BLACK, EMPTY, PASSES, TO_MOVE, WHITE, copy_state
from mcts.tree_arrays import ROOT, add_edge, add_node, new_tree
from mcts.uct.kernels import MOST_RAVE_GAMES, add_rave
from mcts.uct.pattern_table import (
    UNIT,
    PatternFileError,
    canonical_codes,
    draw_code,
    eyes_of_black,
    make_weights,
    read_code,
    read_gammas,
    swap_colors,
)
from mcts.uct.playout_board import PlayoutGame, new_playout_work, play_in_playout, start_playout
from mcts.uct.playout_policy import (
    CAPTURE,
    RESCUE,
    PlayoutRules,
    choose_in_playout,
    draw_point,
    find_special,
    is_playable,
    list_answers,
    play_out,
)
from mcts.uct.playout_shapes import (
    find_nakade,
    has_vital_point,
    is_dead_shape,
    list_region,
    may_be_small,
    shape_number,
)
from tests.reference.slow_board import SlowBoard
from tests.reference.twins import Twins

NO_FACTORS = np.ones(3)


def make_rules(table: np.ndarray | None = None, **changes) -> PlayoutRules:
    """Return rules without any knowledge but a table, with changes."""
    table = make_weights({}) if table is None else table
    plain = PlayoutRules(table, NO_FACTORS, NO_FACTORS, NO_FACTORS, 0.0, 0, False)
    return plain._replace(**changes)


def start(twins: Twins, rules: PlayoutRules, color: int = BLACK, seed: int = 1) -> PlayoutGame:
    """Return a playout that is to begin on a board."""
    work = new_playout_work(twins.size, seed)
    copy_state(work.state, twins.fast.state)
    work.state.info[TO_MOVE] = color
    start_playout(work, rules.table, -1)
    return work


def check_weights(work: PlayoutGame, table: np.ndarray, size: int) -> None:
    """Assert that codes, weights and sums are those of the position."""
    state, rows = work.state, np.zeros((size + 2, 2), dtype=np.int64)
    for pos in get_geometry(size).points:
        assert work.codes[pos] == pattern_code(state, pos)
        expected = table[work.codes[pos]] if state.stones[pos] == EMPTY else 0
        assert (work.weights[pos] == expected).all()
        rows[pos // (size + 2)] += expected
    assert (work.rows == rows).all()
    assert (work.whole == rows.sum(axis=0)).all()


@pytest.mark.plain
@pytest.mark.parametrize("size", [2, 3, 5, 7])
def test_weights_are_those_of_the_position_after_every_move(size: int) -> None:
    rng = np.random.default_rng(size)
    table = rng.integers(1, 5000, size=(1 << 16, 2), dtype=np.int32)
    table[make_weights({}) == 0] = 0
    rules = make_rules(table, near_last=np.array([1.0, 4.0, 3.0]), answers=np.array([1.0, 30.0, 10.0]), nakade=0.5,
                       self_atari=7, seki=True)
    captured = 0
    for seed in range(1, 5):
        work = start(Twins(size), rules, seed=seed)
        for _ in range(3 * size * size):
            pos = choose_in_playout(work, rules)
            check_weights(work, table, size)
            captured += play_in_playout(work, table, pos)
            check_weights(work, table, size)
            assert not work.factor.any()
            if work.state.info[PASSES] >= 2:
                break
    assert captured > 0


def test_a_point_is_drawn_as_often_as_it_weighs() -> None:
    table = np.where(make_weights({}) > 0, UNIT, 0).astype(np.int32)
    rules = make_rules(table, near_last=np.array([1.0, 4.0, 2.0]))
    work = start(Twins(3), rules)
    play_in_playout(work, table, 2 * 5 + 2)  # the middle: 4 points beside it weigh 4, 4 diagonal ones 2
    find_special(work, rules)
    drawn = np.bincount([draw_point(work, WHITE) for _ in range(12000)], minlength=25) / 12000
    for pos, expected in ((1 * 5 + 2, 4 / 24), (3 * 5 + 2, 4 / 24), (1 * 5 + 1, 2 / 24), (3 * 5 + 3, 2 / 24)):
        assert drawn[pos] == pytest.approx(expected, abs=0.015)
    assert drawn[[pos for pos in range(25) if work.weights[pos, WHITE - BLACK] == 0]].sum() == 0


@pytest.mark.plain
def test_nearness_to_both_last_moves_and_an_answer_are_multiplied() -> None:
    table = make_weights({})
    rules = make_rules(table, near_last=np.array([1.0, 4.0, 2.0]), near_previous=np.array([1.0, 5.0, 3.0]),
                       answers=np.array([1.0, 7.0, 10.0]))
    twins = Twins.from_diagram("""
        . . . . .
        . . . . .
        . . . X .
        . . . . X
        . . . X .
    """)
    work = start(twins, rules)
    for point in ((3, 4), (4, 4)):  # the second one stands in atari
        play_in_playout(work, table, twins.pos(point))
    assert work.state.stones[twins.pos((4, 4))] == WHITE and work.state.info[TO_MOVE] == BLACK
    find_special(work, rules)
    wanted = {(3, 3): 2 * 5, (3, 5): 2 * 5, (2, 4): 5, (2, 3): 3, (5, 5): 2, (1, 1): 0}
    assert {point: work.factor[twins.pos(point)] for point in wanted} == wanted
    single = Twins.from_diagram("""
        . . . . .
        . . X . .
        . X . X .
        . . . . .
        . . . . .
    """)
    single.play((3, 3), "w")
    work = start(single, rules)
    find_special(work, rules)
    assert work.factor[single.pos((3, 4))] == 4 * 7


@pytest.mark.plain
def test_a_playout_plays_legal_moves_and_ends() -> None:
    rules = make_rules(nakade=1.0, self_atari=7, seki=True, answers=np.array([1.0, 30.0, 10.0]))
    for seed in range(1, 6):
        work = start(Twins(5), rules, seed=seed)
        moves = play_out(work, rules)
        slow, color = SlowBoard(5), "b"
        for pos in work.moves[:moves]:
            point = None if pos == PASS else (int(pos) % 7, int(pos) // 7)
            assert point is None or slow.is_legal(point, color)
            slow.play(point, color)
            color = "w" if color == "b" else "b"
        assert work.state.info[PASSES] == 2 or moves == 75


SHAPES = {  # drawing: whether it has a vital point, whether stones of the shape that are taken leave no two eyes
    "##": (False, True), "###": (True, True), "##/#.": (True, True), "####": (False, False),
    "###/.#.": (True, True), "##/##": (False, True), "##./.##": (False, False), "###/#..": (False, False),
    "#####": (False, False), ".#./###/.#.": (True, True), "##./###": (True, True), "###/#.#": (False, False),
    "####/.#..": (False, False), "###/###": (False, False), ".#../###./##..": (True, True),
    "##./###/.#.": (True, True), "######": (False, False), "##../####": (False, False),
    "#.../####/#...": (False, False),
}


@pytest.mark.plain
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_with_a_middle_are_known(shape: str) -> None:
    width = 9
    cells = [y * width + x for y, row in enumerate(shape.split("/"), 2) for x, c in enumerate(row, 2) if c == "#"]
    array = np.array(cells + [0] * (8 - len(cells)), dtype=np.int16)
    has_vital, is_dead = SHAPES[shape]
    if len(cells) <= 6:
        assert has_vital_point(len(cells), shape_number(array, len(cells), width)) == has_vital
        assert is_dead_shape(array, len(cells), width) == is_dead


@pytest.mark.plain
def test_the_vital_point_of_a_small_eye_is_found() -> None:
    bent = Twins.from_diagram("""
        . . X O .
        . X X O .
        X X O O .
        O O O . .
        . . . . .
    """)
    work = new_playout_work(5)
    assert find_nakade(bent.fast.state, bent.pos((2, 2)), work.cells, work.seen) == bent.pos((1, 1))
    for last in ((4, 4), (5, 5)):  # beside a region of more than six points
        assert find_nakade(bent.fast.state, bent.pos(last), work.cells, work.seen) == PASS
        assert not work.seen.any()
    shared = Twins.from_diagram("""
        . . . X O
        O X X X O
        O O O O O
        . . . . .
        . . . . .
    """)
    assert find_nakade(shared.fast.state, shared.pos((2, 2)), work.cells, work.seen) == PASS  # both colors beside it


@pytest.mark.plain
@pytest.mark.parametrize("size", [2, 5, 9])
def test_the_cells_around_a_point_rule_out_regions_that_are_not_listed(size: int) -> None:
    rules, found = make_rules(self_atari=7, seki=True), {True: 0, False: 0}
    for seed in range(1, 4):
        work = start(Twins(size), rules, seed=seed)
        for _ in range(2 * size * size):
            play_in_playout(work, rules.table, choose_in_playout(work, rules))
            for pos in get_geometry(size).points:
                if work.state.stones[pos] != EMPTY:
                    continue
                listed, end = list_region(work.state, pos, work.cells, 0, work.seen)
                work.seen[work.cells[:end]] = 0
                may_be = bool(may_be_small(int(work.codes[pos])))
                assert may_be or listed < 2
                found[may_be] += 1
    assert found[False] > 0 and (found[True] > 0 or size == 2)


@pytest.mark.plain
def test_a_throw_in_that_kills_is_played_and_one_that_gives_stones_away_is_not() -> None:
    twins = Twins.from_diagram("""
        . O . X O .
        X X X X O .
        O O O O O .
        . . . . . .
        . . . . . .
        . . . . . .
    """)
    inside = [twins.pos(point) for point in ((1, 1), (3, 1))]

    def playable(color: int, **rules) -> list[bool]:
        made = make_rules(**rules)
        work = start(twins, made, color)
        return [bool(is_playable(work, made, pos, color)) for pos in inside]

    assert playable(WHITE) == [True, True]
    assert playable(WHITE, self_atari=7, seki=True) == [True, True]  # two stones in an eye of three
    assert playable(WHITE, self_atari=2, seki=True) == [False, False]
    assert playable(WHITE, self_atari=3) == [True, True]


@pytest.mark.plain
def test_a_seki_is_kept() -> None:
    twins = Twins.from_diagram("""
        . O O O O O .
        X X X X X X X
        O O O O O O O
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
    """)
    shared = [twins.pos((1, 1)), twins.pos((7, 1))]
    free, kept = make_rules(), make_rules(self_atari=7, seki=True)
    for color in (BLACK, WHITE):
        for pos in shared:
            assert is_playable(start(twins, free, color), free, pos, color)
            assert not is_playable(start(twins, kept, color), kept, pos, color)


@pytest.mark.plain
def test_captures_and_rescues_around_the_last_moves_are_listed() -> None:
    twins = Twins.from_diagram("""
        . . . . .
        . O X . .
        . . O X .
        . . . . .
        . . . . .
    """)
    twins.play((1, 5), "b")
    twins.play((3, 1), "w")  # the black stone at (3, 2) has (4, 2) left
    points, kinds = np.zeros(16, dtype=np.int16), np.zeros(16, dtype=np.int16)
    count = list_answers(twins.fast.state, twins.pos((1, 5)), points, kinds)
    assert list(zip(points[:count].tolist(), kinds[:count].tolist(), strict=True)) == [(twins.pos((4, 2)), RESCUE)]
    taken = Twins.from_diagram("""
        . X . . .
        X O . . .
        . X . . .
        . . . . .
        . . . . .
    """)
    taken.play((5, 5), "w")
    count = list_answers(taken.fast.state, taken.pos((1, 2)), points, kinds)
    assert list(zip(points[:count].tolist(), kinds[:count].tolist(), strict=True)) == [(taken.pos((3, 2)), CAPTURE)]


def test_a_pattern_stands_for_its_symmetries_and_colors() -> None:
    canonical = canonical_codes()
    code = read_code("XO+/+*+/###")
    for other in ("+OX/+*+/###", "#+X/#*O/#++", "###/+*+/XO+", "X+#/O*#/++#"):
        assert canonical[read_code(other)] == canonical[code]
    assert len(set(canonical[read_code(text)] for text in ("XO+/+*+/###", "OX+/+*+/###"))) == 2
    assert draw_code(code) == "XO+/+*+/###"
    assert swap_colors(np.array([code]))[0] == read_code("OX+/+*+/###")
    weights = make_weights({draw_code(canonical[code]): 2.5})
    assert weights[code].tolist() == [2.5 * UNIT, UNIT]
    assert weights[read_code("OX+/+*+/###")].tolist() == [UNIT, 2.5 * UNIT]


def test_eyes_weigh_nothing() -> None:
    eyes = eyes_of_black()
    for code in np.random.default_rng(0).integers(0, 1 << 16, size=3000):
        assert eyes[code] == (eye_color_of_code(int(code)) == BLACK)
    code = read_code("XXX/X*X/XXX")
    assert make_weights({})[code].tolist() == [0, UNIT]


def test_the_table_is_read_and_what_is_no_table_is_refused_in_one_line(tmp_path) -> None:
    gammas = read_gammas()
    assert gammas["playout"]["pattern"] and gammas["prior"]["pattern"] and gammas["prior"]["capture"]
    path = tmp_path / "patterns.txt"
    for line in ("playout answer capture", "opening answer capture 3", "prior line 1 nan", "prior line 1 -2",
                 "prior pattern XO 3", "prior pattern XZ+/+*+/### 3"):
        path.write_text(f"# head\n{line}\n", encoding="utf-8")
        with pytest.raises(PatternFileError, match="line 2"):
            read_gammas(path)
    with pytest.raises(PatternFileError, match="No such file"):
        read_gammas(tmp_path / "none.txt")


@pytest.mark.parametrize("games", [1000.0, MOST_RAVE_GAMES, 2.0**24])
def test_rave_tells_the_mean_of_its_games_however_many_there_are(games: float) -> None:
    """A float32 that has counted 2^24 games counts no more of them, while the sum of their values goes on."""
    tree, first_player = new_tree(1, 1, has_rave=True), np.zeros(25, dtype=np.int8)
    add_node(tree)
    add_edge(tree, ROOT, 12, 0.0)
    first_player[12] = BLACK
    tree.edge_rave_visits[0], tree.edge_rave_sum[0] = games, games / 4.0
    for i in range(100):
        add_rave(tree, ROOT, first_player, BLACK, float(i % 4 == 0))
        assert tree.edge_rave_sum[0] / tree.edge_rave_visits[0] == pytest.approx(0.25, abs=1.0 / games)
