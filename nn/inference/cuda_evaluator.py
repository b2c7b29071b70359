"""Evaluating one buffer on a GPU while another is filled, as nn/inference/batch_evaluator.py does on a CPU.

Letters: N positions a buffer holds, P planes, S board size, A = S*S + 1 policy entries.
"""

from nn.constant import BUFFERS
from nn.evaluation import Answers
from nn.inference.cuda_call import CudaCall
from nn.inference.evaluator import NetworkEvaluator
from nn.inference.turned_net import TurnedNet


class CudaEvaluator:
    """The network on a GPU: thousands of positions per call, pinned memory, both buffers in flight at once.

    A call always evaluates the whole buffer; what stands beyond the positions wanted is left from earlier calls.
    """

    on_gpu = True

    def __init__(self, evaluator: NetworkEvaluator, positions: int) -> None:
        """Make two buffers of so many positions for the evaluator's network."""
        self.plane_set = evaluator.plane_set
        shape = (positions, self.plane_set.planes, evaluator.board_size, evaluator.board_size)
        network = TurnedNet(evaluator.network, evaluator.turns).to(evaluator.device)
        self._calls = [CudaCall(network, evaluator.dtype, evaluator.device, shape, asleep=True)
                       for _ in range(BUFFERS)]  # asleep: several processes share the cores
        self.planes = [call.planes for call in self._calls]
        self._counts = [0] * BUFFERS

    def start(self, buffer: int, count: int) -> None:
        """Begin to evaluate the first `count` positions of a buffer."""
        self._counts[buffer] = count
        self._calls[buffer].launch()

    def finish(self, buffer: int) -> Answers:
        """Return policy logits float32 [count, A], values float32 [count, 3] and what else the network tells.

        They are valid until the next start.
        """
        return self._calls[buffer].wait(self._counts[buffer])
