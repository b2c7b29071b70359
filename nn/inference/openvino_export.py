"""From a model file to what OpenVINO reads: needs torch, once for each file and board size."""

import warnings

import openvino
import torch

from nn.inference.board_evaluator import NetworkFacts
from nn.inference.evaluator import Network, copy_for_inference, find_facts
from nn.inference.folded_net import FoldedNet
from nn.model_file import ModelFile
from nn.network.weights import load_network
from nn.plane_sets import PLANE_SETS

# Positions of the example that shows what the network calculates; any number runs afterwards.
EXAMPLES = 2


def multiply_exactly(inputs: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Return the matrix product of a last layer as products and sums, which OpenVINO does not round to bfloat16.

    Logits of 8 bits are ties that are none: they cost a network its best move in one position of 150.
    """
    return (inputs.unsqueeze(2) * weight.t()).sum(dim=1) + bias


def convert(network: Network, board_size: int | None) -> openvino.Model:
    """Return a network in float32 as OpenVINO has it, for batches of any length."""
    facts = find_facts(network, board_size)
    planes, size = PLANE_SETS[facts.features].planes, facts.board_size
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # torch's: the shapes that are traced as constants are constant
        prepared = copy_for_inference(network)
        if isinstance(prepared, FoldedNet):
            prepared.multiply = multiply_exactly
        example = torch.zeros(EXAMPLES, planes, size, size)
        # OpenVINO would have torch trace it again, to compare: half a second, and imports that take longer.
        traced = torch.jit.trace(prepared, example, strict=False, check_trace=False)
        model = openvino.convert_model(traced, example_input=example)
    model.reshape({0: [-1, planes, size, size]})
    return model


def export(model: ModelFile, board_size: int | None) -> tuple[openvino.Model, NetworkFacts]:
    """Return the network of a model file for a board size, and what is told of it.

    Raises ModelFileError where the file is no network, or not one for the board size.
    """
    network = load_network(model, board_size)
    return convert(network, board_size), find_facts(network, board_size)
