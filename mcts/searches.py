"""The searches that there are: the one table that options, engine, self-play and the tree look into.

A further search is a number in mcts/constant.py, an entry here, and a branch in `select_edge` (mcts/algorithm.py),
where it chooses its way down the tree; one that is not driven visit by visit has one in MCTSTree.run, too. One without
a network has a tree of its own instead (mcts/uct/tree.py). The choices of all options follow from the table;
CONTRIBUTING.md has the other places that know a search by name.
"""

from dataclasses import dataclass

from mcts.constant import GUMBEL, PUCT, UCT
from mcts.params import NETWORK_ALONE, Selection


@dataclass(frozen=True)
class SearchKind:
    """One way to search.

    Attributes:
        algorithm: its number for the kernels.
        selection, policy_temperature: the numbers that a player takes unless it is told others.
        plans_visits: whether it must know its visits beforehand, also on a clock.
        keeps_tree: whether it goes on from the last tree, so that thinking on the opponent's time helps.
        draws_noise: whether a player has it search the same position in many ways.
        asks_network: whether a network judges positions; playouts do otherwise (mcts/uct/tree.py).
    """

    algorithm: int
    selection: Selection
    policy_temperature: float
    plans_visits: bool
    keeps_tree: bool
    draws_noise: bool
    asks_network: bool = True


SEARCHES = {
    # 16 playouts from each new position and a policy flattened by 2 were chosen by measuring (doc/search.md).
    "puct": SearchKind(PUCT, Selection(playouts=16), policy_temperature=2.0,
                       plans_visits=False, keeps_tree=True, draws_noise=False),
    "gumbel": SearchKind(GUMBEL, NETWORK_ALONE, policy_temperature=1.0,
                         plans_visits=True, keeps_tree=False, draws_noise=True),
    "uct": SearchKind(UCT, NETWORK_ALONE, policy_temperature=1.0,
                      plans_visits=False, keeps_tree=True, draws_noise=False, asks_network=False),
}
IN_ROUNDS = {kind.algorithm for kind in SEARCHES.values() if kind.plans_visits}
DEFAULT_SEARCH, SELF_PLAY_SEARCH = "puct", "gumbel"
WITH_NETWORK = {name: kind for name, kind in SEARCHES.items() if kind.asks_network}
SELF_PLAY_SEARCHES = tuple(WITH_NETWORK)

# What self-play records for a network to learn: Gumbel AlphaZero's improved policy; AlphaZero's shares of visits; or
# AlphaGo Zero's, at the temperature at which moves are drawn: the move alone where the best one is played.
TARGETS = ("improved", "visits", "tempered")
IMPROVED, VISITS, TEMPERED = range(len(TARGETS))
DEFAULT_TARGET = TARGETS[IMPROVED]
