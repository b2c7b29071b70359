"""Self-play of many games at once: equal to one search after the other, fair to every game, and true results."""
from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from board.constant import MAX_KOMI
from board.coordinate import Coordinate
from board.geometry import get_geometry
from board.ruleset import Rules
from board.score import get_area
from board.stone import Stone
from nn.history_feature import HISTORY
from nn.rich_feature import KOMI, RICH
from selfplay.game import EndReason, GameRecord, NewGame, draw_game
from selfplay.games import new_terms
from sgf.match_result import MatchResult
from sgf.reader import SGFReader
from sgf.selfplay_record import decode_policy_comment, write_game
from tests.mcts.evaluators import ColorEvaluator, ConstantEvaluator
from tests.selfplay.players import SlowGame, play_games, play_slowly, replay
from tools.benchlib.evaluators import HashEvaluator

# Half a point of komi, and superko.
HALF = Rules.of(0.5, True)
LOST = {Stone.BLACK: MatchResult.WHITE_WIN, Stone.WHITE: MatchResult.BLACK_WIN}


def begin(count: int, seed: int = 0, no_resign_rate: float = 0.5) -> list[NewGame]:
    return [draw_game(number, (seed,), no_resign_rate) for number in range(1, count + 1)]


def same(one: GameRecord, other: GameRecord) -> bool:
    """Return whether two records are equal in every respect."""
    names = ("number", "moves", "reason", "score", "gave_up", "may_resign", "result")
    return (all(getattr(one, name) == getattr(other, name) for name in names)
            and np.array_equal(one.policy, other.policy) and np.allclose(one.value, other.value, atol=1e-6))


@pytest.mark.parametrize(("size", "visits", "komi", "threshold"), [
    (2, 2, 0.0, 0.0), (3, 7, 0.5, 0.1), (4, 16, 0.0, 0.0), (5, 16, 0.5, 0.05), (5, 33, 1.0, 0.2), (5, 100, 0.5, 0.0),
    (7, 50, 7.0, 0.05), (9, 16, 7.0, 0.1),
])
def test_one_game_is_one_search_after_the_other(size: int, visits: int, komi: float, threshold: float) -> None:
    compare_with_searches(size, visits, komi, threshold, games=2)


def test_one_game_is_one_search_after_the_other_whatever_target_scale() -> None:
    compare_with_searches(5, 16, 0.5, 0.05, games=4, target_scale=0.1)


def test_one_game_is_one_search_after_the_other_when_visits_are_taught() -> None:
    compare_with_searches(3, 8, 0.5, 0.05, games=2, target="visits")


@pytest.mark.parametrize("temperature", [0.5, 2.0])
def test_one_game_is_one_search_after_the_other_whatever_policy_temperature(temperature: float) -> None:
    compare_with_searches(5, 16, 0.5, 0.05, games=4, policy_temperature=temperature)


@pytest.mark.parametrize(("size", "visits", "opening_moves", "temperature"), [
    (5, 16, 4, 1.0), (5, 5, 100, 1.5), (5, 16, 4, 0.5), (9, 16, 8, 3.0),
])
def test_one_game_is_one_search_after_the_other_with_a_drawn_opening(
    size: int, visits: int, opening_moves: int, temperature: float
) -> None:
    compare_with_searches(size, visits, 0.5, 0.05, 4, target_scale=0.05, opening_moves=opening_moves,
                          opening_temperature=temperature)


@pytest.mark.parametrize(("size", "visits", "full_share", "fast_visits", "opening_moves"), [
    (5, 16, 0.4, 4, 0), (3, 3, 0.5, 8, 6),
])
def test_one_game_is_one_search_after_the_other_some_of_them_fast(
    size: int, visits: int, full_share: float, fast_visits: int, opening_moves: int
) -> None:
    compare_with_searches(size, visits, 0.5, 0.05, 4, opening_moves=opening_moves, full_share=full_share,
                          fast_visits=fast_visits)


@pytest.mark.parametrize(("full_share", "threshold"), [(1.0, 0.2), (0.5, 0.3)])
def test_one_game_is_one_search_after_the_other_to_the_end_of_a_lost_game(full_share: float, threshold: float) -> None:
    compare_with_searches(5, 16, 0.5, threshold, 6, full_share=full_share, fast_visits=4, soft_resign=True)


def test_a_lost_game_is_played_on_and_teaches_nothing_more() -> None:
    """Up to the move that would have been the resignation the games are those that end there."""
    records, resigned = (
        play_games(HashEvaluator(5), new_terms(5, 16, HALF, 0.45, fast_visits=4, soft_resign=soft), begin(80))
        for soft in (True, False))
    lost = 0
    for record, short in zip(records, resigned, strict=True):
        assert record.reason != EndReason.RESIGNATION and record.gave_up == short.gave_up
        length = len(short.moves)
        assert record.moves[:length] == short.moves
        if short.reason == EndReason.RESIGNATION:
            lost += 1
            taught = (record.policy >= 0).max(axis=1)
            assert len(record.moves) > length and taught[:length + 1].all() and not taught[length + 1:].any()
            assert record.would_have_lost is not None and short.would_have_lost is None
    assert lost > 5


@pytest.mark.parametrize("options", [
    {}, {"root_noise": 0.0}, {"target": "visits", "opening_moves": 6, "opening_temperature": 0.5},
    {"target": "tempered", "opening_moves": 6, "opening_temperature": 1.5}, {"target": "tempered", "search": "gumbel"},
    {"target": "tempered", "full_share": 0.5, "fast_visits": 5},
])
def test_alphazero_plays_one_search_after_the_other(options: dict[str, Any]) -> None:
    compare_with_searches(5, 20, 0.5, 0.05, 3, **{"search": "puct", **options})


def test_a_tempered_target_is_the_move_alone_after_the_opening() -> None:
    terms = new_terms(5, 16, HALF, 0.0, search="puct", target="tempered", opening_moves=5)
    for record in play_games(HashEvaluator(5), terms, begin(5)):
        most = record.policy.max(axis=1)
        assert (most[:5] < 1).any() and (most[5:] == 1).all()
        played = [get_geometry(5).policy_index[pos] for pos in record.moves]
        assert (record.policy.argmax(axis=1)[5:] == played[5:]).all()


class HistoryEvaluator(HashEvaluator):
    """Sees the last eight boards."""

    plane_set = HISTORY


def test_games_of_a_network_that_looks_back_are_one_search_after_the_other() -> None:
    compare_with_searches(5, 16, 0.5, 0.05, 3, evaluator=HistoryEvaluator(5), opening_moves=4)


class KomiEvaluator:
    """Thinks of nothing but the komi: 20 points more are a win."""

    plane_set = RICH

    def __call__(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        win = 0.5 + planes[:, KOMI, 0, 0] / 2
        values = np.stack([1 - win, np.zeros_like(win), win], axis=1)
        return np.zeros((len(planes), planes.shape[-1] ** 2 + 1), dtype=np.float32), values


def test_games_of_different_komi_are_played_side_by_side() -> None:
    games = [draw_game(number, (1,), 1.0, komi_spread=4.0) for number in range(200)]
    spread = [game.extra_komi for game in games]
    assert 3.3 < np.std(spread) < 4.7 and all(extra == round(extra) for extra in spread)
    assert replace(games[7], extra_komi=0.0) == draw_game(7, (1,), 1.0)
    terms = new_terms(5, 4, HALF, 0.0)
    for new, record in zip(games[:30], play_games(KomiEvaluator(), terms, games[:30]), strict=True):
        assert record.komi == 0.5 + new.extra_komi and f"KM[{record.komi}]" in record.get_sgf().decode()
        assert record.value[0] == pytest.approx(0.5 - record.komi / 40, abs=1e-4)
        assert record.score == get_area(replay(record).state)[0] - record.komi


def test_no_game_has_a_komi_that_records_cannot_have() -> None:
    games = [replace(game, extra_komi=extra) for game, extra in zip(begin(2), (900.0, -900.0), strict=True)]
    found = [record.komi for record in play_games(KomiEvaluator(), new_terms(5, 4, HALF, 0.0), games)]
    assert found == [MAX_KOMI, -MAX_KOMI]


def test_a_share_of_the_moves_is_searched_in_full_and_recorded() -> None:
    records = play_games(HashEvaluator(5), new_terms(5, 16, HALF, 0.0, full_share=0.25, fast_visits=4), begin(60))
    recorded = np.concatenate([(record.policy >= 0).any(axis=1) for record in records])
    assert 0.2 < recorded.mean() < 0.3
    text = records[0].get_sgf().decode()
    assert text.count("C[") == (records[0].policy >= 0).any(axis=1).sum() and text.count("]V[") < len(text)


@pytest.mark.slow
def test_drawn_openings_are_of_more_kinds() -> None:
    def kinds(opening_moves: int, temperature: float = 1.0) -> int:
        terms = new_terms(5, 16, HALF, 0.0, 0.001, opening_moves, temperature)
        return len({tuple(record.moves[:2]) for record in play_games(HashEvaluator(5), terms, begin(60))})

    assert kinds(2) > 1.5 * kinds(0)
    assert kinds(2, 0.2) < kinds(2) < kinds(2, 5.0)


def test_targets_come_from_the_network_and_the_values_alone() -> None:
    """The network likes all moves alike, and win rates do not count: no atari is taught as anything better."""
    terms = new_terms(5, 4, HALF, 0.0, target_scale=1e-9)
    for record in play_games(ConstantEvaluator(5), terms, begin(3)):
        for row in record.policy:
            candidates = row[row >= 0]
            np.testing.assert_allclose(candidates, 1 / len(candidates), rtol=1e-4)


def entropy(record: GameRecord) -> float:
    """Return the entropy of the policy recorded on the empty board."""
    policy = np.maximum(record.policy[0], 1e-30)
    return float(-(policy * np.log(policy)).sum())


def test_a_smaller_target_scale_teaches_a_softer_policy() -> None:
    """The less win rates count, the nearer the policy is to the network's own, which is wider here; the moves stay."""
    sharp, soft, softest = (play_games(HashEvaluator(5), new_terms(5, 16, HALF, 0.0, scale), begin(1))[0]
                            for scale in (1.0, 0.1, 0.001))
    assert entropy(sharp) < entropy(soft) < entropy(softest)
    assert sharp.moves == soft.moves == softest.moves


def test_a_policy_temperature_above_1_teaches_a_softer_policy() -> None:
    sharp, plain, soft = (
        play_games(HashEvaluator(5), new_terms(5, 16, HALF, 0.0, 0.001, policy_temperature=t), begin(1))[0]
        for t in (0.5, 1.0, 2.0))
    assert entropy(sharp) < entropy(plain) < entropy(soft)


@pytest.mark.plain
@pytest.mark.parametrize(("size", "visits"), [(2, 2), (2, 5), (3, 16)])
def test_small_games_are_one_search_after_the_other(size: int, visits: int) -> None:
    compare_with_searches(size, visits, 0.5, 0.1, games=2)


def compare_with_searches(size: int, visits: int, komi: float, threshold: float, games: int,
                          evaluator: HashEvaluator | None = None, **options: Any) -> None:
    """Play games both ways; they must be equal to the last bit. `options` are those of new_terms."""
    terms = new_terms(size, visits, Rules.of(komi, True), threshold, **options)
    evaluator = evaluator or HashEvaluator(size)
    for new in begin(games, seed=size):
        [fast] = play_games(evaluator, terms, [new], positions=16)
        slow = play_slowly(evaluator, terms, new)
        assert fast.moves == slow.moves
        assert same(fast, slow), new


@pytest.mark.parametrize(("size", "visits"), [(4, 16), (5, 33), (9, 8)])
def test_a_game_does_not_depend_on_its_neighbors(size: int, visits: int) -> None:
    terms, evaluator = new_terms(size, visits, HALF, 0.1), HashEvaluator(size)
    alone, few, many = (play_games(evaluator, terms, begin(25), positions) for positions in (16, 40, 300))
    assert [record.number for record in many] == list(range(1, 26))
    assert all(map(same, alone, few)) and all(map(same, few, many))
    assert len({tuple(record.moves) for record in many}) > 5
    assert not same(play_games(evaluator, terms, begin(1, seed=1))[0], alone[0])


@pytest.mark.parametrize(("size", "visits", "komi"), [(2, 5, 0.0), (3, 16, 0.0), (5, 16, 0.5), (9, 4, 7.0)])
def test_every_game_ends_truly(size: int, visits: int, komi: float) -> None:
    reasons = set()
    for record in play_games(HashEvaluator(size), new_terms(size, visits, Rules.of(komi, True), 0.05), begin(40), 128):
        board = replay(record)
        reasons.add(record.reason)
        assert len(record.moves) == len(record.policy) <= 2 * size * size
        passes = record.moves[-2:] == [0, 0]
        if record.reason == EndReason.RESIGNATION:
            assert record.may_resign and record.gave_up == board.get_to_move()
            assert record.result == LOST[board.get_to_move()] and not passes
            continue
        assert passes == (record.reason == EndReason.TWO_PASSES)
        assert passes or len(record.moves) == 2 * size * size
        slow = SlowGame(size)
        for pos in record.moves:
            slow.play(pos)
        score = slow.board.area_score() - komi
        assert record.score == score
        assert record.result == (MatchResult.DRAW if score == 0 else
                                 MatchResult.BLACK_WIN if score > 0 else MatchResult.WHITE_WIN)
    assert EndReason.TWO_PASSES in reasons


def test_policies_are_probabilities_of_the_candidates() -> None:
    for record in play_games(HashEvaluator(5), new_terms(5, 16, HALF, 0.0), begin(5)):
        for number in range(len(record.moves)):
            board = replay(GameRecord(**{**vars(record), "moves": record.moves[:number]}))
            candidates = [*board.get_all_legal_pos(board.get_to_move(), fill_eyes=False), 0]
            index = [25 if pos == 0 else (pos // 7 - 1) * 5 + pos % 7 - 1 for pos in candidates]
            row = record.policy[number]
            assert np.flatnonzero(row >= 0).tolist() == sorted(index)
            assert row[row >= 0].sum() == pytest.approx(1, abs=1e-5)
            assert row[index[candidates.index(record.moves[number])]] > 0


def test_superko_is_a_choice() -> None:
    def repeats(superko: bool) -> int:
        never_pass = ConstantEvaluator(2, {0: -10.0})
        records = play_games(never_pass, new_terms(2, 2, Rules.of(0.0, superko), 0.0), begin(60, seed=3))
        count = 0
        for record in records:
            slow = SlowGame(2)
            for pos in record.moves:
                before = len(slow.board.seen)
                slow.play(pos)
                count += pos != 0 and len(slow.board.seen) == before
        return count

    assert repeats(superko=True) == 0
    assert repeats(superko=False) > 0


def test_resignation_and_the_games_in_which_nobody_may() -> None:
    """Black is told that it loses, and passing first costs nothing: may_resign alone decides."""
    terms = new_terms(5, 8, HALF, 0.05)
    records = play_games(ColorEvaluator(5, win=0.01), terms, begin(60, no_resign_rate=0.25))
    free = [record for record in records if record.may_resign]
    assert 0 < len(records) - len(free) < 30
    for record in free:
        assert (record.reason, record.moves, record.result) == (EndReason.RESIGNATION, [], MatchResult.WHITE_WIN)
        assert record.would_have_lost is None
    for record in records:
        if not record.may_resign:
            assert record.reason != EndReason.RESIGNATION and record.gave_up == Stone.BLACK
            assert record.would_have_lost == (record.result == MatchResult.WHITE_WIN)


def test_nobody_resigns_at_threshold_zero() -> None:
    terms = new_terms(4, 4, HALF, 0.0)
    records = play_games(ConstantEvaluator(4, win=0.0), terms, begin(10, no_resign_rate=0.0))
    assert all(record.reason != EndReason.RESIGNATION for record in records)


def test_the_share_of_games_without_resignation() -> None:
    counts = [sum(not draw_game(n, (7, 1), rate).may_resign for n in range(2000)) for rate in (0.0, 0.1, 1.0)]
    assert counts[0] == 0 and 150 < counts[1] < 250 and counts[2] == 2000


def test_files_say_what_happened(tmp_path: Path) -> None:
    for record in play_games(HashEvaluator(5), new_terms(5, 8, HALF, 0.1), begin(12)):
        path = write_game(tmp_path, record.number, record.get_sgf())
        assert path == tmp_path / f"{record.number}.sgf"
        reader = SGFReader(path, 5)
        assert list(reader.get_moves()) == record.moves
        assert [reader.get_color(n) for n in range(reader.get_n_moves())] == (
            [Stone.BLACK, Stone.WHITE] * len(record.moves))[: len(record.moves)]
        assert (reader.result, reader.komi) == (record.result, 0.5)
        assert reader.event == f"self-play, {record.reason.text}"
        assert ("+R]" in path.read_text()) == (record.reason == EndReason.RESIGNATION)
        for number, row in enumerate(record.policy):
            policy = decode_policy_comment(reader.get_comment(number), Coordinate(5))
            assert list(policy.values()) == pytest.approx(row[row >= 0].tolist(), rel=5.1e-4)
            assert reader.get_win_rate(number) == pytest.approx(float(record.value[number]), abs=5.1e-5)
