"""What the command line of the engine decides."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from board.constant import DEFAULT_KOMI, MAX_BOARD_SIZE
from board.ruleset import Rules
from common.cores import count_free_cores
from engine.levels import FULL_LEVEL, LEVELS, Level, Resigning
from mcts.constant import DEFAULT_LAG, KEEP_ALL, PUCT
from mcts.params import SearchParams, Tactics
from mcts.searches import DEFAULT_SEARCH, SEARCHES, SearchKind
from mcts.uct.params import PlayoutParams, UctParams
from nn.model_file import (
    BETWEEN_MODELS,
    CLASSIFIER_FILE,
    RANDOM_MODEL,
    ModelFileError,
    find_common_sizes,
    find_specialist,
    split_models,
    tells_lead,
)
from program import PROGRAM_FOLDER

DEFAULT_MODEL = "model/model.bin"
HALVING_SEARCH = "gumbel"  # of which --sequential-halving is the older name

RESIGN_THRESHOLD = 0.05
RESIGN_STREAK = 3
MAX_TEMPERATURE = 10.0
# Policy temperature and worth of the lead in the search with a network that tells leads
# (EngineOptions.for_knowing_network).
KNOWING_TEMPERATURE, KNOWING_LEAD_WEIGHT = 1.2, 0.12
MIN_POLICY_TEMPERATURE = 0.1
MAX_PLAYOUTS, MAX_PROOF_NODES = 10_000, 1_000_000
# Most leaves that wait for the network where nobody says --batch-size, and the visits of the root that each stands for
# (tools/bench.py batches).
CPU_LEAVES, GPU_LEAVES = 32, 256
# Each core, or GPU, has at least so many of them.
LEAVES_OF_A_CORE, LEAVES_OF_A_GPU = 16, 128
VISITS_PER_LEAF = 8
# Threads that share the playouts where nobody says --threads; for more of them a small tree has too few lines.
MOST_PLAYOUT_THREADS = 8
# What the search by playouts does where nobody says --prune and --tactics (doc/history.md has the matches); the
# classifier of bad moves, or the one for large boards, judges boards of these sizes well.
PLAYOUT_PRUNE, CLASSIFIER_SIZES = 0.9, range(6, MAX_BOARD_SIZE + 1)
PLAYOUT_TACTICS = Tactics(root=2000, leaf=100)
# Positions that a call is filled up with (SearchParams.ahead).
AHEAD = 6
# Share of the most visited move's visits from which on a move may be chosen for its lower confidence bound.
BOUND_SHARE = 0.1
MAX_C_PUCT, MAX_LEAD_WEIGHT = 10.0, 1.0
# Whose win rates KataGo's analysis engine answers.
WINRATES_AS = ("BLACK", "WHITE", "SIDETOMOVE")


@dataclass(frozen=True)
class EngineOptions:
    """Options of main.py under their names there; None where an option was not given and has no plain default.

    Attributes:
        root_temperature, analysis_root_temperature: how much wider than usual a search looks at the root
            (MCTSTree.search), when it chooses a move and when it analyzes; no options of main.py, controllers set them.
        may_resign: whether resign_threshold holds; no option of main.py either.
    """

    size: int | None = None
    superko: bool = False
    model: str = DEFAULT_MODEL
    value_model: str = ""
    use_gpu: bool = False
    gpus: tuple[int, ...] = ()
    symmetries: int = 1
    policy_move: bool = False
    policy_temperature: float | None = None
    temperature: float = 0.0
    search: str = DEFAULT_SEARCH
    sequential_halving: bool = False  # the older name of HALVING_SEARCH
    komi: float = DEFAULT_KOMI
    visits: int | None = None
    strict_visits: int | None = None
    const_time: float | None = None
    time: float | None = None
    batch_size: int | None = None
    c_puct: float = SearchParams().selection.c_puct
    lead_weight: float | None = None
    lcb: bool | None = None
    solve: bool = SearchParams().selection.solve
    skip_settled: bool = SearchParams().skip_settled
    root_temperature: float = 1.0
    analysis_root_temperature: float = 1.0
    tree_size: int | None = None
    cgos_mode: bool = False
    resign_threshold: float = RESIGN_THRESHOLD
    may_resign: bool = True
    resign_streak: int = RESIGN_STREAK
    min_resign_move: int | None = None
    override_version: str | None = None
    winrates_as: str = WINRATES_AS[0]
    lag: float = DEFAULT_LAG
    seed: int | None = None
    ponder: bool = False
    playouts: int | None = None
    playout_share: float | None = None
    rollout: str = SearchParams.rollout
    live_gfx: bool = False
    level: int = FULL_LEVEL
    uct: UctParams = UctParams()
    threads: int | None = None
    book: str = ""
    prune: float | None = None
    expansion_threshold: int = SearchParams().selection.expand
    classifier: str = CLASSIFIER_FILE
    tactics: int | None = None
    leaf_tactics: int | None = None
    tactics_prior: float = Tactics().prior

    @property
    def rules(self) -> Rules:
        """The rules of the game."""
        return Rules.of(self.komi, self.superko)

    @property
    def strength(self) -> Level:
        """What the level plays by."""
        return LEVELS[self.level]

    @property
    def resigning(self) -> Resigning:
        """When the player gives up: as these options say, but not before the level does."""
        late = self.strength.resigning
        threshold = self.resign_threshold if self.may_resign else 0.0
        return Resigning(min(threshold, late.threshold), max(self.resign_streak, late.streak))

    @property
    def draws_from_policy(self) -> bool:
        """Whether moves are drawn from the network's policy without search."""
        return self.policy_move or self.strength.visits == 0

    @property
    def search_kind(self) -> SearchKind:
        """The search that these options ask for; one of a network where policy_move has that choose the moves."""
        kind = SEARCHES[HALVING_SEARCH if self.sequential_halving else self.search]
        return kind if kind.asks_network or not self.policy_move else SEARCHES[DEFAULT_SEARCH]

    def for_model(self) -> "EngineOptions":
        """Return the options with what their networks ask for (for_knowing_network).

        The priors are those of --model; playouts and leads are about values, which --value-model tells if it is given.
        """
        knowing, options = self.for_knowing_network(), self
        if knows_lead(self.model):
            options = replace(options, policy_temperature=knowing.policy_temperature)
        if knows_lead(self.value_model or self.model):
            options = replace(options, playouts=knowing.playouts, lead_weight=knowing.lead_weight, lcb=knowing.lcb)
        return options

    def for_knowing_network(self) -> "EngineOptions":
        """Return the options for a network that tells leads, unless asked for otherwise.

        These are no playouts, a sharper policy, a worth of the lead and a choice by lower bounds. Playouts and a flat
        policy make up for what a weak network does not see; one that has learnt from a strong one knows better than
        random games: doc/search.md has the matches.
        """
        playouts = 0 if self.playouts is None else self.playouts
        lead_weight = KNOWING_LEAD_WEIGHT if self.lead_weight is None else self.lead_weight
        lcb = self.search_kind.algorithm == PUCT if self.lcb is None else self.lcb
        return replace(self, playouts=playouts, lead_weight=lead_weight, lcb=lcb,
                       policy_temperature=self.policy_temperature or KNOWING_TEMPERATURE)

    @property
    def _most_leaves(self) -> int:
        """The most leaves that wait for the network where nobody says --batch-size."""
        if self.use_gpu:
            return max(GPU_LEAVES, LEAVES_OF_A_GPU * len(self.gpus))
        return max(CPU_LEAVES, LEAVES_OF_A_CORE * (self.threads or count_free_cores()))

    def search_params(self) -> PlayoutParams:
        """Return the search parameters that these options ask for; the search's own where they ask for none."""
        default, kind = SearchParams(), self.search_kind
        playouts = kind.selection.playouts if self.playouts is None else self.playouts
        selection = kind.selection
        if self.playout_share is not None:  # the same from the first move to the last
            selection = selection._replace(playout_share=self.playout_share, playout_begin=-1.0, playout_full=0.0)
        selection = selection._replace(c_puct=self.c_puct, playouts=playouts, lead_weight=self.lead_weight or 0.0,
                                       solve=self.solve and kind.algorithm == PUCT, expand=self.expansion_threshold)
        return PlayoutParams(
            algorithm=kind.algorithm,
            selection=selection,
            policy_temperature=self.policy_temperature or kind.policy_temperature,
            batch_size=self.batch_size or self._most_leaves,
            visits_per_leaf=0 if self.batch_size else VISITS_PER_LEAF,
            ahead=AHEAD if kind.algorithm == PUCT else default.ahead,
            tree_size=self.tree_size or default.tree_size,
            bound_share=BOUND_SHARE if self.lcb else default.bound_share,
            skip_settled=self.skip_settled,
            rollout=self.rollout,
            uct=self.uct,
            threads=self.threads or min(MOST_PLAYOUT_THREADS, count_free_cores()),
            prune=KEEP_ALL if self.prune is None else self.prune,
            classifier=self.classifier,
            tactics=self._choose_tactics(SearchParams().tactics),
        )

    def playout_params(self, board_size: int) -> PlayoutParams:
        """Return the parameters of the search by playouts on boards of a size.

        Unless asked otherwise it leaves bad moves out, where the classifier is there and has learnt from such boards,
        and looks at strings, where priors, which are what these change, count at all. That a network chooses by lower
        bounds (for_model) does not hold where playouts stand in for it.
        """
        has_priors = self.uct.prior > 0 or self.uct.widening > 0
        params = replace(self.search_params(),
                         tactics=self._choose_tactics(PLAYOUT_TACTICS if has_priors else Tactics()))
        if self.search_kind.asks_network and knows_lead(self.value_model or self.model):
            params = replace(params, bound_share=SearchParams().bound_share)
        try:
            path = find_file(self.classifier, "classifier", "")
        except FileNotFoundError:
            return params
        if self.prune is None and board_size in CLASSIFIER_SIZES:
            params = replace(params, prune=PLAYOUT_PRUNE)
        return replace(params, classifier=find_specialist(path, board_size))

    def _choose_tactics(self, usual: Tactics) -> Tactics:
        """Return how far strings are looked at: as the options say, or else as is usual."""
        return Tactics(usual.root if self.tactics is None else self.tactics,
                       usual.leaf if self.leaf_tactics is None else self.leaf_tactics, self.tactics_prior)


def find_model(model: str, without: str = "plays by playouts, without one", folder: Path = PROGRAM_FOLDER) -> str:
    """Return the path of the model file (find_file), or "none" (a random network, asked for by name) as it is.

    `without` says what the program does with "none".

    Several files have commas between them. Raises OSError with a message for the user: a file is missing, or there is
    no board that all of them play.
    """
    if model.lower() == RANDOM_MODEL:
        return RANDOM_MODEL
    parts = [model] if os.path.isfile(folder / model) else split_models(model)
    if not all(part.strip() for part in parts):
        raise OSError(f"--model {model!r}: a name is missing{' beside the comma' if len(parts) > 1 else ''}")
    paths = [find_file(part.strip(), "model file", f"give its path with --model (--model none {without})", folder)
             for part in parts]
    try:
        find_common_sizes(paths)
    except ModelFileError as error:
        raise OSError(str(error)) from None
    return BETWEEN_MODELS.join(paths)


def knows_lead(model: str) -> bool:
    """Return whether a network, looked up as main.py does, tells leads; where it is missing, loading it says so."""
    try:
        return tells_lead(find_model(model))
    except OSError:
        return False


def find_file(name: str, what: str, advice: str, folder: Path = PROGRAM_FOLDER) -> str:
    """Return the path of a file, looked up in the current directory, then in `folder`, beside the program.

    Raises FileNotFoundError with a message for the user.
    """
    tried = [Path(os.path.expanduser(name))]  # which leaves the name of no user as it is
    if not tried[0].is_absolute():
        tried.append(folder / name)
    for path in tried:
        if os.path.isfile(path):  # which takes a name that is too long for none
            return str(path)
    places = " and ".join(dict.fromkeys(str(path.absolute()) for path in tried))
    raise FileNotFoundError(f"{what} not found: tried {places}; {advice}")


def describe_time_conflict(options: EngineOptions) -> str | None:
    """Return a note when several options ask for different thinking times, saying which one holds."""
    given = {
        "--time": options.time, "--const-time": options.const_time,
        "--strict-visits": options.strict_visits, "--visits": options.visits,
    }
    names = [name for name, value in given.items() if value is not None]
    if len(names) < 2:
        return None
    return f"Note: {names[0]} takes precedence, {' and '.join(names[1:])} ignored"
