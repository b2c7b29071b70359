"""Curves of cost against work: exponents, limits and the picture; what is timed stays untested."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from tools.benchlib import growth_bench
from tools.benchlib.cluster_bench import FreeBatchEvaluator
from tools.benchlib.evaluators import TABLE_LENGTH
from tools.benchlib.growth_bench import GrowthCurve, find_exponent, link_copies, measure_growth
from tools.benchlib.measure import BenchSettings, Figure


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_is_the_power(power: float) -> None:
    for works in ([10, 100], [1, 4, 16], [5, 7, 9, 19]):
        assert find_exponent(works, [3.0 * work**power for work in works]) == pytest.approx(power)
    assert find_exponent([1, 10, 100, 1000, 10000], [5.0, 5.0, 10.0, 100.0, 1000.0]) == pytest.approx(1.0), \
        "what a start costs says nothing about growth"


@pytest.mark.slow
def test_a_curve_ends_where_it_would_take_too_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[int] = []

    def cost(work: int) -> float:
        asked.append(work)
        return float(work**2)

    curves = [GrowthCurve("squares", (1, 2, 4, 100), cost, lambda work: work**2),
              GrowthCurve("one point", (3, 1000), cost)]
    monkeypatch.setattr(growth_bench, "making_data", lambda _: nullcontext(([], tmp_path)))
    monkeypatch.setattr(growth_bench, "make_curves", lambda *_: curves)
    picture = tmp_path / "growth.png"
    items = list(measure_growth(BenchSettings(limit=20.0, picture=picture)))
    figures = {item.name: item.value for item in items if isinstance(item, Figure)}
    assert asked == [1, 1, 2, 4, 3, 3]
    assert figures["squares: 4"] == 16.0 and figures["squares: exponent"] == pytest.approx(1.0)
    assert "one point: exponent" not in figures
    assert [item for item in items if isinstance(item, str)] == [
        "squares: 100 would take longer than 20 s", "one point: 1,000 would take longer than 20 s"]
    pytest.importorskip("matplotlib")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_free_network_answers_as_many_positions_as_are_asked() -> None:
    evaluator = FreeBatchEvaluator(5, 2 * TABLE_LENGTH)
    for count in (3, 2 * TABLE_LENGTH, 5):
        evaluator.start(1, count)
        assert [len(answer) for answer in evaluator.finish(1)] == [count, count]


def test_collections_hold_the_same_games_over_and_over(tmp_path: Path) -> None:
    games = [tmp_path / name for name in ("a.sgf", "b.sgf")]
    for path in games:
        path.write_text(path.name)
    (tmp_path / "copies").mkdir()
    link_copies(games, 5, tmp_path / "copies")
    assert sorted(path.read_text() for path in (tmp_path / "copies").iterdir()) == ["a.sgf"] * 3 + ["b.sgf"] * 2
