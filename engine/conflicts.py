"""Options of main.py that do not go together: what is refused, and the one line that says so.

`arguments` are the values of the command line under the names of EngineOptions, and `was_given` tells whether one of
them was typed.
"""

from collections.abc import Callable
from typing import Any

from board.constant import MAX_BOARD_SIZE
from engine.levels import FULL_LEVEL
from engine.options import HALVING_SEARCH, EngineOptions
from mcts.constant import KEEP_ALL
from mcts.searches import DEFAULT_SEARCH, SEARCHES
from nn.model_file import ANY_SIZE, RANDOM_MODEL, find_sizes, split_models, tells_lead

# What a search without a network does not know, and what no other knows.
NETWORK_OPTIONS = ("value_model", "playouts", "playout_share", "rollout", "c_puct", "lead_weight", "symmetries",
                   "policy_temperature")
PLAYOUT_OPTIONS = ("uct", "classifier")


class OptionConflict(ValueError):
    """Options that do not go together; the message names them and says what to give instead."""


def is_pruned(arguments: dict[str, Any]) -> bool:
    """Return whether moves are to be left out of the tree because somebody asked for it."""
    return arguments["prune"] not in (None, KEEP_ALL)


def choose_search(arguments: dict[str, Any], was_given: Callable[[str], bool]) -> str:
    """Return the name of the search, for which the older one may stand.

    Raises OptionConflict where both are given and differ.
    """
    if not arguments["sequential_halving"]:
        return str(arguments["search"])
    if was_given("search") and arguments["search"] != HALVING_SEARCH:
        raise OptionConflict(f"--sequential-halving is --search {HALVING_SEARCH}, not --search "
                             f"{arguments['search']}: give one of them")
    return HALVING_SEARCH


def check_search_options(arguments: dict[str, Any], was_given: Callable[[str], bool]) -> None:
    """Raise OptionConflict where an option of one search is given beside another."""
    kind, is_random = SEARCHES[arguments["search"]], arguments["model"].lower() == RANDOM_MODEL
    by_playouts = not arguments["policy_move"] and (not kind.asks_network or is_random and not kind.draws_noise)
    player = f"--model {RANDOM_MODEL}" if kind.asks_network and by_playouts else f"--search {arguments['search']}"
    if arguments["solve"] and (by_playouts or arguments["search"] != DEFAULT_SEARCH):
        raise OptionConflict(f"--solve is for --search {DEFAULT_SEARCH}, not for {player}")
    if arguments["solve"] and is_pruned(arguments):
        raise OptionConflict("--solve proves by all moves, --prune leaves some out: give one of them")
    if by_playouts and arguments["expansion_threshold"] > 1:
        raise OptionConflict("--expansion-threshold is for a search with a network: give --uct expand=N")
    for name in NETWORK_OPTIONS if by_playouts else ():
        if was_given(name):
            more = "; KataGo's settings call it cpuctExploration" if name == "c_puct" else ""
            raise OptionConflict(f"--{name.replace('_', '-')} is for a search with a network, not for {player}{more}")


def check_player_options(arguments: dict[str, Any], analysis_json: bool, was_given: Callable[[str], bool]) -> None:
    """Raise OptionConflict where an option is given that this player, or this protocol, has no use for."""
    kind, policy_move = SEARCHES[arguments["search"]], arguments["policy_move"]
    if arguments["ponder"] and (policy_move or not kind.keeps_tree):
        player = "--policy-move true" if policy_move else f"--search {arguments['search']}"
        raise OptionConflict(f"--ponder is for a search that goes on from its last tree, not for {player}")
    if policy_move and arguments["level"] < FULL_LEVEL:
        raise OptionConflict(f"--level {arguments['level']} and --policy-move each choose moves in their own way: "
                             "give one of them")
    if arguments["value_model"] and arguments["model"].lower() == RANDOM_MODEL:
        raise OptionConflict("--value-model needs a network for the policy beside it: give --model FILE")
    if analysis_json and arguments["book"]:
        raise OptionConflict("--book is for a player, which --analysis-json true is not")
    if not analysis_json and was_given("winrates_as"):
        raise OptionConflict("--winrates-as is for --analysis-json true")


def check_values(options: EngineOptions, was_given: Callable[[str], bool]) -> None:
    """Raise OptionConflict where an option is about what is not done: playouts, leads, strings, another search.

    The model files, whose paths the options hold, are looked into.
    """
    if options.lead_weight and not any(map(tells_lead, split_models(options.value_model or options.model))):
        raise OptionConflict("--lead-weight is for a network that tells leads")
    for name in ("playout_share", "rollout"):
        asked = getattr(options, name) != getattr(EngineOptions, name)
        if asked and not options.for_model().search_params().selection.playouts:
            raise OptionConflict(f"--{name.replace('_', '-')} needs games that are played out: give --playouts N")
    given = list(filter(was_given, (*PLAYOUT_OPTIONS, "tactics_prior")))
    by_network = SEARCHES[options.search].asks_network and options.model != RANDOM_MODEL and not options.value_model
    # The model file is read for these options alone; where its network plays all boards, playouts choose on none.
    plays_all = bool(given) and by_network and find_sizes(options.model) == ANY_SIZE
    if plays_all and given[0] in PLAYOUT_OPTIONS:
        raise OptionConflict(f"--{given[0]} is for a search without a network: give --search uct")
    if "tactics_prior" in given:
        params = options.search_params() if plays_all else options.playout_params(options.size or MAX_BOARD_SIZE)
        if not (params.tactics.root or params.tactics.leaf):
            raise OptionConflict("--tactics-prior needs strings that are looked at: give --tactics N or "
                                 "--leaf-tactics N")
