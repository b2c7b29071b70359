"""The numbers of the search without a network, `--search uct`; each idea of it can be switched off."""

from dataclasses import dataclass
from typing import NamedTuple

from mcts.params import SearchParams
from nn.model_file import CLASSIFIER_FILE


class UctParams(NamedTuple):
    """What `--uct NAME=VALUE,...` sets. The first such programs had ucb and fpu alone: all else at its least value."""

    # UCB1: exploration ucb * sqrt(log(N + 1) / n) (Kocsis and Szepesvari 2006), and the value of an unvisited move of
    # which nothing else is known (first-play urgency, Gelly and Wang 2006).
    ucb: float = 0.05
    fpu: float = 1.1
    # RAVE (Gelly and Silver 2007): its share is sqrt(rave / (3 n + rave)) after n visits of the move (theirs: of the
    # position, which gives rare moves up earlier); 0 for none. With rave_bias b above 0 it is
    # m / (n + m + 4 n m b^2), which has the least mean square error (Silver 2009), for m of its samples.
    rave: float = 1000.0
    rave_bias: float = 0.0
    # Progressive widening (Coulom 2007): move k + 1 of a node joins widening * growth^(k - 1) visits after move k; 0:
    # all at once. And the weight of the bias P * sqrt(N + 1) / (1 + n) for moves of a high prior P; 0: moves are alike.
    widening: float = 8.0
    growth: float = 1.4
    prior: float = 0.8
    # How far priors follow the policy of the classifier, where bad moves are left out: gamma^(1 - policy) * P^policy.
    policy: float = 1.0
    # Visits of a move before its position becomes a node of the tree.
    expand: float = 4.0
    # Playouts (playout_policy.py): weights of patterns, of the neighbors of the last two moves and of answers to
    # them, 1 or 0; the chance to play the vital point of a small region; self-ataris of so many stones or more are
    # refused, 0 for none, and with seki smaller ones, too, that could not kill.
    patterns: float = 1.0
    near: float = 1.0
    answers: float = 1.0
    nakade: float = 0.5
    self_atari: float = 7.0
    seki: float = 1.0


@dataclass(frozen=True)
class PlayoutParams(SearchParams):
    """Everything that stays the same from search to search, with the numbers of UCT and its threads."""

    uct: UctParams = UctParams()
    threads: int = 1
    classifier: str = CLASSIFIER_FILE  # of bad moves, where some are left out


# The greatest value of each; the least one is 0 but for those in LEAST.
MOST = UctParams(ucb=100.0, fpu=100.0, rave=1e9, rave_bias=100.0, widening=1e9, growth=10.0, prior=100.0, policy=1.0,
                 expand=1e6, patterns=1.0, near=1.0, answers=1.0, nakade=1.0, self_atari=1000.0, seki=1.0)
LEAST = {"growth": 1.01, "expand": 1.0}
SWITCHES = ("patterns", "near", "answers", "seki")
WHOLE = ("self_atari", "expand", *SWITCHES)


def read_uct_params(text: str) -> UctParams:
    """Return the numbers that a text `name=value,...` changes; raises ValueError, naming what is wrong."""
    changes: dict[str, float] = {}
    for part in filter(None, text.replace(" ", "").split(",")):
        name, _, number = part.partition("=")
        if name not in UctParams._fields:
            raise ValueError(f"{name or repr(part)} is none of {', '.join(UctParams._fields)}")
        least, most = LEAST.get(name, 0.0), getattr(MOST, name)
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not least <= value <= most or (name in WHOLE and value != round(value)):
            kind = "a whole number" if name in WHOLE else "a number"
            raise ValueError(f"{part}: {name} is {kind} from {least:g} to {most:g}")
        if name in changes:
            raise ValueError(f"{name} is given twice")
        changes[name] = value
    return UctParams(**changes)
