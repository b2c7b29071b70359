"""Convolutions in integers of 8 bits say nearly what the network says, are made once, and only where it bears them."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

pytest.importorskip("openvino", reason="OpenVINO is not installed (pip install '.[fast]')")

import openvino  # noqa: E402 (only where it is installed)

from nn.constant import PRECISION_VARIABLE  # noqa: E402
from nn.inference import openvino_cache, openvino_integers, weight_rounding  # noqa: E402
from nn.inference.calibration import count_games, play_games  # noqa: E402
from nn.inference.divergence import compare  # noqa: E402
from nn.inference.loading import load_evaluator  # noqa: E402
from nn.inference.openvino_export import convert  # noqa: E402
from nn.inference.openvino_precision import choose_formats  # noqa: E402
from nn.inference.runtime import RUNTIME_VARIABLE  # noqa: E402
from nn.network.dual_net import DualNet  # noqa: E402
from nn.network.weights import save_network  # noqa: E402
from nn.plane_sets import PLANE_SETS  # noqa: E402
from tests.nn.test_openvino import NETWORKS, SIZE, make_network  # noqa: E402

# Of 3x3 in each network, behind its first.
CONVOLUTIONS = 4


def run(core: openvino.Core, model: openvino.Model, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the logits and chances of planes."""
    watched = openvino_integers.Watched(core, model, planes.shape)
    watched(planes)
    return watched.answers


def test_zero_is_a_step_of_every_range() -> None:
    for low, high in ((0.0, 3.7), (-0.31, 5.0), (-1.0, 1.0)):
        first, last = openvino_integers.align_zero(low, high)
        step = (last - first) / 255
        assert first / step == pytest.approx(round(first / step), abs=1e-9)
        assert abs(first - low) <= step and abs(last - high) <= step
        assert openvino_integers.round_to_steps(np.zeros(1), first, last)[0] == pytest.approx(0.0, abs=1e-12)


def test_weights_are_steps_of_their_filter_and_near() -> None:
    weight = np.random.default_rng(0).normal(size=(4, 8, 3, 3)).astype(np.float32)
    weight[1] *= 100
    weight[2] = 0
    last = weight_rounding.choose_last_steps(weight)
    rounded = weight_rounding.round_weights(weight, last)
    steps = rounded / last * 127
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)
    assert np.abs(steps).max() <= 127 + 1e-3
    plain = np.abs(weight).max(axis=(1, 2, 3), keepdims=True) / 127
    plain_error = np.square(np.round(weight / np.maximum(plain, 1e-9)) * plain - weight).sum(axis=(1, 2, 3))
    assert (np.square(rounded - weight).sum(axis=(1, 2, 3)) <= plain_error * (1 + 1e-4)).all()


def test_weights_that_are_rounded_together_change_the_result_less() -> None:
    """Steps they are all the same, and the nearest ones where nothing that a filter reads goes together"""
    rng = np.random.default_rng(5)
    weight = rng.normal(size=(4, 6, 3, 3))
    last = weight_rounding.choose_last_steps(weight) * 20  # coarse
    common = rng.normal(size=(64, 1, SIZE, SIZE))
    features = common + 0.3 * rng.normal(size=(64, 6, SIZE, SIZE))
    products = weight_rounding.multiply_windows(features, 4_000, rng)
    together = weight_rounding.round_together(weight, last, products)
    steps = together / last * 127
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-6)
    apart = weight_rounding.round_weights(weight, last)
    result, one, other = (functional.conv2d(torch.from_numpy(features), torch.from_numpy(w), padding=1).numpy()
                          for w in (weight, together, apart))
    assert np.square(one - result).mean() < 0.4 * np.square(other - result).mean()
    np.testing.assert_array_equal(weight_rounding.round_together(weight, last, np.eye(54)), apart)


def test_what_filters_read_is_multiplied_with_zeros_beyond_the_edge() -> None:
    features = np.ones((1, 1, 2, 2))
    found = weight_rounding.multiply_windows(features, 20_000, np.random.default_rng(0)) / 20_000
    windows = functional.unfold(torch.ones(1, 1, 2, 2), 3, padding=1)[0].numpy()
    np.testing.assert_allclose(found, windows @ windows.T / 4, atol=0.02)


def test_each_channel_has_its_part_of_the_range() -> None:
    """No value is cut off that the whole range holds, and no channel's steps are larger than they would be alike."""
    rng, weight = np.random.default_rng(2), np.random.default_rng(4).normal(size=(4, 6, 3, 3))
    entering, highest = openvino_integers.Entering(), np.array([0.0, 0.01, 0.1, 1.0, 5.0, 9.0])
    entering.add(rng.random((8, 6, SIZE, SIZE)) * highest[:, None, None], rng)
    parts = entering.share_range(0.0, 9.0, weight)
    assert (parts * 9.0 >= entering.highest - 1e-5).all() and parts.min() > 0.0
    assert (np.diff(parts[1:]) > 0).all() and parts[1] < 0.1
    np.testing.assert_array_equal(entering.share_range(-0.3, 9.0, weight), 1.0)


def test_the_mean_of_a_convolution_is_that_of_torch() -> None:
    rng = np.random.default_rng(1)
    mean, weight = rng.normal(size=(6, SIZE, SIZE)), rng.normal(size=(3, 6, 3, 3))
    wanted = functional.conv2d(torch.from_numpy(mean)[None], torch.from_numpy(weight), padding=1).mean(dim=(0, 2, 3))
    np.testing.assert_allclose(openvino_integers.sum_of_means(mean, weight), wanted.numpy(), atol=1e-12)


def test_calibration_plays_whole_games() -> None:
    plane_set = PLANE_SETS["basic"]

    def judge(planes: np.ndarray) -> np.ndarray:
        return np.random.default_rng(int(planes.sum())).normal(size=(len(planes), SIZE**2 + 1)).astype(np.float32)

    shown = list(play_games(judge, plane_set, SIZE))
    assert all(planes.shape == (count_games(SIZE), plane_set.planes, SIZE, SIZE) for planes in shown)
    empty = [float(planes[:, 0].mean()) for planes in shown]
    assert empty[0] == 1.0 and min(empty) < 0.6, "boards fill up"
    for first, again in zip(shown, play_games(judge, plane_set, SIZE), strict=True):
        np.testing.assert_array_equal(first, again)


@pytest.mark.slow
@pytest.mark.parametrize("kind", NETWORKS)
def test_a_network_in_integers_says_nearly_the_same(kind: str) -> None:
    network = make_network(kind)
    core, model = openvino.Core(), convert(network, SIZE)
    plane_set = PLANE_SETS[network.features]
    planes = np.random.default_rng(3).random((64, plane_set.planes, SIZE, SIZE), dtype=np.float32).round()
    before = run(core, model, planes)
    assert openvino_integers.quantize(core, model, plane_set, SIZE)
    names = [node.get_type_name() for node in model.get_ordered_ops()]
    assert names.count("FakeQuantize") == 2 * CONVOLUTIONS
    divergence, error = compare(before, run(core, model, planes))
    assert 0 < divergence < 0.01 and 0 < error < 0.03


@pytest.mark.slow
def test_weights_of_many_channels_are_rounded_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino_integers, "MAX_CHANNELS", 4)
    monkeypatch.setattr(openvino_integers, "round_together", fail)
    core, network = openvino.Core(), make_network("lecture")
    assert openvino_integers.quantize(core, convert(network, SIZE), PLANE_SETS["basic"], SIZE)


def test_what_a_convolution_alone_feeds_has_one_range() -> None:
    """The parts of its channels are taken out of the convolution before: rounded in one way, it says the same"""
    network = make_network("lecture")
    core, model = openvino.Core(), convert(network, SIZE)
    planes = np.random.default_rng(3).random((8, PLANE_SETS["basic"].planes, SIZE, SIZE), dtype=np.float32).round()
    before = run(core, model, planes)
    sources = [openvino_integers.find_source(one) for one in openvino_integers.find_convolutions(model)]
    assert [source is not None for source in sources] == [False, True, False, True], "the second of each block"
    parts = np.random.default_rng(4).uniform(0.5, 2.0, (1, 8, 1, 1)).astype(np.float32)
    for convolution, source in zip(openvino_integers.find_convolutions(model), sources, strict=True):
        if source:
            openvino_integers.divide_channels(source, parts)
            weight = convolution.input_value(1).get_node().get_data()
            convolution.input(1).replace_source_output(openvino.opset13.constant(weight * parts).output(0))
    for found, wanted in zip(run(core, model, planes), before, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_a_network_that_does_not_bear_it_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    network = make_network("lecture")
    assert isinstance(network, DualNet)
    network.policy_head.fc_layer.weight.data *= 30  # it has an opinion
    assert openvino_integers.quantize(openvino.Core(), convert(network, SIZE), PLANE_SETS["basic"], SIZE)
    monkeypatch.setattr(openvino_integers, "ENTERING_LEVELS", 3)
    for module in (openvino_integers, weight_rounding):
        monkeypatch.setattr(module, "WEIGHT_LEVELS", 3)
    assert not openvino_integers.quantize(openvino.Core(), convert(network, SIZE), PLANE_SETS["basic"], SIZE)


def fail(*_: object) -> bool:
    """Raise what OpenVINO does where it cannot run a network."""
    raise RuntimeError("no such kernel")


@pytest.mark.slow
def test_integers_are_made_once_and_only_for_networks_that_bear_them(tmp_path: Path,
                                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openvino_cache, "cache_folder", lambda: tmp_path)
    monkeypatch.delenv(RUNTIME_VARIABLE, raising=False)
    monkeypatch.setenv(PRECISION_VARIABLE, "int8")
    model, planes = tmp_path / "x.bin", np.ones((3, PLANE_SETS["rich"].planes, SIZE, SIZE), dtype=np.float32)
    save_network(make_network("pooled"), model)
    first = load_evaluator(model, SIZE)
    assert "int8, OpenVINO" in first.description
    monkeypatch.setattr(openvino_integers, "quantize", lambda *_: pytest.fail("it was made before"))
    again = load_evaluator(model, SIZE)
    for one, other in zip(first(planes), again(planes), strict=True):
        np.testing.assert_array_equal(one, other)
    (verdict,) = tmp_path.rglob(openvino_cache.VERDICT_FILE)
    verdict.write_text(openvino_cache.SUITS_NOT)
    floats = f"{choose_formats(openvino.Core())[-1].value}, OpenVINO"
    assert "int8" not in floats and floats in load_evaluator(model, SIZE).description
    verdict.unlink()
    monkeypatch.setattr(openvino_integers, "quantize", fail)
    assert floats in load_evaluator(model, SIZE).description and verdict.is_file()
