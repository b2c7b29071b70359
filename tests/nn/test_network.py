"""The network: names and shapes of its weights, its five methods, and the folded evaluator."""

import numpy as np
import pytest
import torch

from board.geometry import make_symmetry_index
from nn.inference.evaluator import NetworkEvaluator
from nn.inference.folded_net import fold_batch_norm
from nn.network.dual_net import DualNet, ResidualBlock, make_common_blocks

CPU = torch.device("cpu")
NORM = {"weight": (64,), "bias": (64,), "running_mean": (64,), "running_var": (64,), "num_batches_tracked": ()}


def golden_names() -> dict[str, tuple[int, ...]]:
    """Return the tensors of the default model file, as published for TamaGo 0.6 to 0.10."""
    golden: dict[str, tuple[int, ...]] = {"conv_layer.weight": (64, 6, 3, 3)}
    golden |= {f"bn_layer.{name}": shape for name, shape in NORM.items()}
    for block in range(6):
        for part in (1, 2):
            golden[f"blocks.{block}.conv{part}.weight"] = (64, 64, 3, 3)
            golden |= {f"blocks.{block}.bn{part}.{name}": shape for name, shape in NORM.items()}
    for head, channels, inputs, outputs in (("policy_head", 2, 162, 82), ("value_head", 1, 81, 3)):
        golden[f"{head}.conv_layer.weight"] = (channels, 64, 1, 1)
        golden |= {f"{head}.bn_layer.{name}": (channels,) if shape else () for name, shape in NORM.items()}
        golden |= {f"{head}.fc_layer.weight": (outputs, inputs), f"{head}.fc_layer.bias": (outputs,)}
    return golden


def lively_network(board_size: int, filters: int = 8, blocks: int = 2) -> DualNet:
    """Return a network whose batch norms do something."""
    torch.manual_seed(1)
    network = DualNet(CPU, board_size, filters, blocks).eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            assert module.running_mean is not None and module.running_var is not None
            module.running_mean.normal_(0.0, 0.3)
            module.running_var.uniform_(0.3, 2.0)
            module.weight.data.uniform_(0.5, 2.0)
            module.bias.data.normal_(0.0, 0.3)
    return network


def random_planes(count: int, board_size: int) -> np.ndarray:
    return np.random.default_rng(count).integers(-1, 2, (count, 6, board_size, board_size)).astype(np.float32)


def test_model_file_names_and_shapes() -> None:
    assert {name: tuple(tensor.shape) for name, tensor in DualNet(CPU).state_dict().items()} == golden_names()


def test_parameter_count() -> None:
    assert sum(parameter.numel() for parameter in DualNet(CPU).parameters()) == 461_298


def test_batch_norm_constants() -> None:
    block = make_common_blocks(1, 4)[0]
    assert isinstance(block, ResidualBlock)
    assert (block.bn1.eps, block.bn1.momentum, block.bn2.eps) == (2e-5, 0.01, 2e-5)
    assert (DualNet(CPU).bn_layer.eps, DualNet(CPU).bn_layer.momentum) == (1e-5, 0.1)


def test_the_five_methods_agree() -> None:
    network = lively_network(5)
    planes = torch.from_numpy(random_planes(3, 5))
    with torch.inference_mode():
        policy, value = network.forward(planes)
        expected = {
            "forward_for_sl": (policy.softmax(1), value),
            "forward_with_softmax": (policy.softmax(1), value.softmax(1)),
            "inference": (policy.softmax(1), value.softmax(1)),
            "inference_with_policy_logits": (policy, value.softmax(1)),
        }
        for name, (wanted_policy, wanted_value) in expected.items():
            got_policy, got_value = getattr(network, name)(planes)
            torch.testing.assert_close(got_policy, wanted_policy)
            torch.testing.assert_close(got_value, wanted_value)


def test_folded_convolution_equals_convolution_and_norm() -> None:
    block = lively_network(5).blocks[0]
    assert isinstance(block, ResidualBlock)
    features = torch.randn(2, 8, 5, 5)
    with torch.no_grad():
        weight, bias = fold_batch_norm(block.conv1, block.bn1)
        folded = torch.nn.functional.conv2d(features, weight, bias, padding=1)
        torch.testing.assert_close(folded, block.bn1(block.conv1(features)), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("board_size", "filters", "blocks", "count"), [
    (9, 64, 6, 1), (9, 64, 6, 16), (2, 4, 1, 3), (5, 8, 2, 7), (13, 6, 0, 2), (19, 8, 1, 2),
])
def test_evaluator_equals_the_network(board_size: int, filters: int, blocks: int, count: int) -> None:
    network = lively_network(board_size, filters, blocks)
    evaluator = NetworkEvaluator(network)
    planes = random_planes(count, board_size)
    policy, value = evaluator.evaluate_plainly(planes)
    with torch.inference_mode():
        wanted_policy, wanted_value = network.inference_with_policy_logits(torch.from_numpy(planes))
    tolerance = 1e-4 if evaluator.dtype == torch.float32 else 5e-2
    np.testing.assert_allclose(policy, wanted_policy.numpy(), atol=tolerance, rtol=tolerance)
    np.testing.assert_allclose(value, wanted_value.numpy(), atol=tolerance)
    assert policy.dtype == value.dtype == np.float32


def test_a_large_batch_is_evaluated_in_parts() -> None:
    evaluator = NetworkEvaluator(lively_network(3))
    planes = random_planes(11, 3)
    whole = evaluator(planes)
    evaluator.batch_limit = 4
    for part, wanted in zip(evaluator(planes), whole, strict=True):
        np.testing.assert_allclose(part, wanted, atol=1e-5)


def test_an_average_over_symmetries() -> None:
    network = lively_network(5)
    planes, index = random_planes(3, 5), make_symmetry_index(5)
    single, average = NetworkEvaluator(network), NetworkEvaluator(network, symmetries=3)
    wanted_policy, wanted_value = np.zeros((3, 26)), np.zeros((3, 3))
    for order in index[:3]:
        policy, value = single.evaluate_plainly(turn(planes, order))
        wanted_policy[:, order] += policy / 3
        wanted_value += value / 3
    got_policy, got_value = average(planes)
    np.testing.assert_allclose(got_policy, wanted_policy, atol=1e-4)
    np.testing.assert_allclose(got_value, wanted_value, atol=1e-4)
    assert got_policy.dtype == got_value.dtype == np.float32


def test_an_average_over_all_symmetries_is_the_same_for_all_of_them() -> None:
    evaluator, planes = NetworkEvaluator(lively_network(5), symmetries=8), random_planes(2, 5)
    policy, value = evaluator(planes)
    for order in make_symmetry_index(5):
        turned_policy, turned_value = evaluator(turn(planes, order))
        np.testing.assert_allclose(turned_policy, policy[:, order], atol=1e-4)
        np.testing.assert_allclose(turned_value, value, atol=1e-4)


def turn(planes: np.ndarray, order: np.ndarray) -> np.ndarray:
    return planes.reshape(*planes.shape[:2], -1)[:, :, order[:-1]].reshape(planes.shape)


def test_other_planes_are_refused() -> None:
    evaluator = NetworkEvaluator(lively_network(5))
    for shape in ((1, 6, 9, 9), (0, 6, 5, 5), (1, 5, 5, 5)):
        with pytest.raises(ValueError, match="planes have shape"):
            evaluator(np.zeros(shape, dtype=np.float32))
