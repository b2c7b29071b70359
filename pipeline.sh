#!/usr/bin/env bash
# The reinforcement-learning loop: self-play -> archive/ -> training -> model/ -> self-play.
#
#   ./pipeline.sh                           from a network that knows nothing
#   ./pipeline.sh --start model/dual-net.bin  from a supervised model
#   ./pipeline.sh --dry-run                 says how many positions, steps and hours a generation takes, and ends
#   ./pipeline.sh --gate                    only a network that beats the playing one plays on (AlphaGo Zero's rule;
#                                           without it the newest one plays: AlphaZero's)
#
# Stop it at any time, the same command goes on. It keeps nothing in mind: what is done is read from files.
#
#   archive/<g>/<n>.sgf         games of generation g; complete when there are GAMES of them
#   model/generations/<g>.bin   the network that has learnt from them; 0.bin is the one of --start
#   model/generations/player    number of the generation that plays: the newest, with --gate the best
#   model/generations/rejected  numbers of those that --gate has kept out, for good
#   model/rl-model.bin          that network
#   model/rl-state.ckpt         everything training needs to go on (model/rl-candidate.bin: what it made last)
#   model/matches/<g>-<h>/      matches between generations, or of one against GNU Go
#   model/rl-metrics.csv, .png  losses, game length, black win rate, Elo
set -euo pipefail

# Settings. Each may also be given from outside: GAMES=500 VISITS=32 ./pipeline.sh
GENERATIONS=${GENERATIONS:-100}          # stop after so many
SIZE=${SIZE:-9}
KOMI=${KOMI:-7.0}
SEED=${SEED:-0}                          # of the games; first weights and order of the data: TRAIN_OPTIONS="--seed N"
USE_GPU=${USE_GPU:-true}
GPUS=${GPUS:-1}                          # processes of training, one GPU each

GAMES=${GAMES:-10000}                    # self-play: games a generation
VISITS=${VISITS:-16}
PROCESSES=${PROCESSES:-4}
SELF_PLAY_OPTIONS=${SELF_PLAY_OPTIONS:-} # more options of selfplay_main.py
REANALYZE=${REANALYZE:-0}                # older games that the playing network searches again, each generation
TEACHER=${TEACHER:-}                     # who judges each generation's positions: a network's file, or the command of an engine (doc/rl.md)
FINAL_STATUS=${FINAL_STATUS:-false}      # take the stones off that GNU Go calls dead before results are learnt (doc/rl.md)

WINDOW=${WINDOW:-300000}                 # training: newest games to learn from
WINDOW_START=${WINDOW_START:-0}          # first so many, then ever more, up to WINDOW (doc/rl.md); 0: WINDOW from the beginning
TRAIN_OPTIONS=${TRAIN_OPTIONS:-}         # more options of train.py, such as --filters 32 --value-blend 0.5

EVALUATE_EVERY=${EVALUATE_EVERY:-5}      # matches: every so many generations, 0 for never
MATCH_GAMES=${MATCH_GAMES:-100}
MATCH_PARALLEL=${MATCH_PARALLEL:-2}
GATE_PERCENT=${GATE_PERCENT:-55}         # score that a new network needs with --gate
ENGINE_OPTIONS=${ENGINE_OPTIONS:---strict-visits 100 --cgos-mode true --playouts 0} # no playouts: matches measure the network
GNUGO=${GNUGO---mode gtp --level 10 --chinese-rules --positional-superko --capture-all-dead} # empty: no GNU Go

STOP_LENGTH=${STOP_LENGTH:-50}           # stop where games get shorter than this share of the usual length, %; 0 for never
STOP_FALLS=${STOP_FALLS:-3}              # stop where the Elo falls so many times in a row, beyond chance; 0 for never

ARCHIVE=${ARCHIVE:-archive}
DATA=${DATA:-data}
MODEL=${MODEL:-model}

say() { printf 'pipeline.sh: %s\n' "$*" >&2; }
die() { say "$*"; exit 2; }

gate=false
dry_run=false
start=""
while [ $# -gt 0 ]; do
    case $1 in
        --gate) gate=true ;;
        --dry-run) dry_run=true ;;
        --start) [ $# -ge 2 ] || die "--start needs a model file"; start=$(realpath -- "$2" 2>/dev/null || echo "$2"); shift ;;
        -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) die "unknown option $1 (see --help)" ;;
    esac
    shift
done
[ -z "$start" ] || [ -f "$start" ] || die "--start $start: there is no such file"
[ ! -f "$TEACHER" ] || TEACHER=$(realpath -- "$TEACHER")
cd "$(dirname "${BASH_SOURCE[0]}")"
[[ ! $TEACHER =~ ^[^[:space:]]+\.(bin|gz|ckpt|pt)$ ]] || [ -f "$TEACHER" ] || die "TEACHER=$TEACHER: there is no such file"
for name in GENERATIONS SIZE SEED GPUS GAMES VISITS PROCESSES WINDOW WINDOW_START REANALYZE EVALUATE_EVERY MATCH_GAMES MATCH_PARALLEL GATE_PERCENT STOP_LENGTH STOP_FALLS; do
    [[ ${!name} =~ ^(0|[1-9][0-9]{0,8})$ ]] || die "$name=${!name} is not a whole number"
done

[ "$STOP_LENGTH" -le 100 ] || die "STOP_LENGTH=$STOP_LENGTH is more than 100 percent"

! $gate || [ "$MATCH_GAMES" -gt 0 ] || die "--gate needs games to judge by: MATCH_GAMES=0"

for name in USE_GPU FINAL_STATUS; do
    [[ ${!name} =~ ^(true|false)$ ]] || die "$name=${!name} is neither true nor false"
done

[[ $KOMI =~ ^-?[0-9]{1,3}(\.[0-9]+)?$ ]] || die "KOMI=$KOMI is not a number of points"

for python in .venv/bin/python .venv/Scripts/python.exe python3; do
    [ ! -x "$python" ] || break
done
python=${PYTHON:-$python}
generations=$MODEL/generations
matches=$MODEL/matches
$dry_run || mkdir -p "$ARCHIVE" "$DATA" "$generations" "$matches"

# Two loops on the same files would spoil each other's work. The lock ends with the last process that holds it, and is
# handed down, so that the remains of a killed loop are noticed, too. A file system without locks keeps nobody out.
$dry_run || exec 9>"$MODEL/rl-lock"
if ! $dry_run && command -v flock >/dev/null; then
    flock -n 9 || [ $? -ne 1 ] || die "another pipeline.sh, or a program that one left behind, is at work in $MODEL: let it end first"
fi

# A program runs in the background and in a process group of its own, so that a signal reaches this script at once and
# the program exactly once. What the program is told is found before: bash 5.2 stumbles over a signal that comes while it
# works out the arguments of a command.
set -m
stop() {
    trap '' INT TERM HUP
    local child
    for child in $(jobs -p); do
        kill -TERM "$child" 2>/dev/null || true
        wait "$child" || true
    done
    say "stopped: the same command goes on"
    exit "$1"
}
trap 'stop 130' INT
trap 'stop 143' TERM
trap 'stop 129' HUP
run() {
    local status=0 child
    "$@" &
    child=$!
    wait "$child" || status=$?
    while kill -0 "$child" 2>/dev/null; do # it is only stopped (SIGSTOP), which ends a `wait` too
        sleep 1
        status=0
        wait "$child" || status=$?
    done
    [ "$status" -eq 0 ] || { say "failed with status $status: $*"; exit "$status"; }
}

newest() { # newest FOLDER SUFFIX: the highest number among the names, 0 for none
    local path name best=0
    for path in "$1"/*"$2"; do
        name=${path##*/}
        name=${name%"$2"}
        if [[ $name =~ ^[1-9][0-9]{0,8}$ ]] && [ "$name" -gt "$best" ]; then best=$name; fi
    done
    echo "$best"
}

count_games() { # count_games GENERATION
    [ ! -d "$ARCHIVE/$1" ] || find "$ARCHIVE/$1" -maxdepth 1 -name '[1-9]*.sgf' | wc -l
}

put() { # put FILE FILE: copy so that the new file is there as a whole or not at all
    cmp -s "$1" "$2" && return
    cp "$1" "$2.part"
    sync "$2.part" 2>/dev/null || sync
    mv -f "$2.part" "$2"
}

network() { # network GENERATION: its model file, "none" for the random weights of a start from nothing
    if [ -f "$generations/$1.bin" ]; then echo "$generations/$1.bin"
    elif $dry_run && [ "$1" -eq 0 ] && [ -n "$start" ]; then echo "$start"
    else echo none; fi
}

engine() { # engine GENERATION: its command line, as tools/match.py takes it
    local model quoted quote="'" escaped="'\\''" search=""
    model=$(network "$1")
    [ "$model" != none ] || search="--search gumbel " # in any other search playouts stand in for random weights
    printf -v quoted %q "$model"
    [[ $quoted != "\$'"* ]] || quoted="'${model//$quote/$escaped}'" # letters that bash alone would read as numbers of bytes
    printf 'main.py --model %s --size %s --use-gpu %s %s%s' "$quoted" "$SIZE" "$USE_GPU" "$search" "$ENGINE_OPTIONS"
}

play_match() { # play_match FOLDER FIRST SECOND NAME NAME
    local played=0
    [ ! -f "$1/games.jsonl" ] || played=$(wc -l <"$1/games.jsonl")
    [ "$played" -lt "$MATCH_GAMES" ] || return 0
    say "match $4 - $5"
    run "$python" tools/match.py --dir "$1" --first "$2" --second "$3" --names "$4" "$5" --games "$MATCH_GAMES" \
        --size "$SIZE" --komi "$KOMI" --parallel "$MATCH_PARALLEL"
}

between() { # between NEW OLD: match of two generations
    local new old
    new=$(engine "$1") old=$(engine "$2")
    play_match "$matches/$1-$2" "$new" "$old" "generation-$1" "generation-$2"
}

beats() { # beats NEW OLD: whether the new network scored enough in their match
    local file=$matches/$1-$2/games.jsonl
    local wins draws games
    wins=$(grep -c '"winner": "first"' "$file" || true)
    draws=$(grep -c '"winner": "draw"' "$file" || true)
    games=$(wc -l <"$file")
    [ $((200 * wins + 100 * draws)) -ge $((2 * GATE_PERCENT * games)) ]
}

read_player() { # sets `player` to the generation that plays: at the beginning 0
    player=0
    [ -f "$generations/player" ] || return 0
    player=$(cat "$generations/player")
    [[ $player =~ ^(0|[1-9][0-9]{0,8})$ ]] || die "$generations/player names no generation: write the number of the one that is to play there"
    if [ "$player" -gt "$trained" ]; then # the newer ones were taken away, to learn anew
        player=$trained
        while grep -qsx "$player" "$generations/rejected"; do player=$((player - 1)); done
    fi
    [ "$player" -eq 0 ] || [ -f "$generations/$player.bin" ] \
        || die "$generations/$player.bin is gone, whose generation plays: put it back, or write the number of another one into $generations/player"
}

choose_player() { # choose_player NEWEST: decide who plays, unless that is decided
    read_player
    local old=$player
    if [ "$1" -gt "$old" ] && grep -qsx "$1" "$generations/rejected"; then
        say "generation $1 was not better than generation $old, which plays on"
    elif [ "$1" -gt "$old" ]; then
        player=$1
        if $gate; then
            between "$1" "$old"
            if beats "$1" "$old"; then
                say "generation $1 plays from now on"
            else
                say "generation $1 is not better than generation $old, which plays on"
                echo "$1" >>"$generations/rejected"
                player=$old
            fi
        fi
    fi
    echo "$player" >"$generations/player.new"
    put "$generations/player.new" "$generations/player"
    rm -f "$generations/player.new"
    [ "$(network "$player")" = none ] || put "$(network "$player")" "$MODEL/rl-model.bin"
}

evaluate() { # evaluate GENERATION: its matches, and the Elo of everybody
    [ "$1" -gt 0 ] && [ "$EVALUATE_EVERY" -gt 0 ] && [ $(($1 % EVALUATE_EVERY)) -eq 0 ] || return 0
    local earlier=$(($1 - EVALUATE_EVERY))
    while [ "$earlier" -gt 0 ] && [ ! -f "$generations/$earlier.bin" ]; do earlier=$((earlier - 1)); done
    between "$1" "$earlier"
    if [ -n "$GNUGO" ] && PATH=$PATH:/usr/games command -v gnugo >/dev/null; then
        local new
        new=$(engine "$1")
        play_match "$matches/$1-gnugo" "$new" "gnugo $GNUGO" "generation-$1" gnugo
    fi
    run "$python" tools/elo_curve.py --matches "$matches" --metrics "$MODEL/rl-metrics.csv"
}

stop_if_it_degenerates() { # stop_if_it_degenerates GENERATION: more games would be lost time
    [ "$1" -gt 0 ] || return 0
    local status=0
    "$python" tools/stop_rule.py --metrics "$MODEL/rl-metrics.csv" --length-percent "$STOP_LENGTH" --elo-falls "$STOP_FALLS" || status=$?
    [ "$status" -ne 3 ] || { say "stopped after generation $1; to go on all the same: STOP_LENGTH=0 STOP_FALLS=0, or begin anew in" \
        "other folders (ARCHIVE, DATA, MODEL) from a generation before it: --start $generations/G.bin"; exit 3; }
    [ "$status" -eq 0 ] || exit "$status"
}

self_play() { # self_play GENERATION OPTION...: the games of the playing network
    local model
    model=$(network "$player")
    # shellcheck disable=SC2086 # options are words
    run "$python" selfplay_main.py --save-dir "$ARCHIVE" --num-data "$GAMES" --process "$PROCESSES" --size "$SIZE" \
        --komi "$KOMI" --visits "$VISITS" --use-gpu "$USE_GPU" --model "$model" \
        --seed $((SEED + $1)) $SELF_PLAY_OPTIONS "${@:2}"
}

self_play_until_complete() { # self_play_until_complete GENERATION: sets `next` to it, or to a newer one
    local have
    have=$(count_games "$1")
    [ "${have:-0}" -lt "$GAMES" ] || return 0
    say "generation $1: self-play of generation $player, ${have:-0} of $GAMES games are there"
    self_play "$1"
    # Where the settings have changed, self-play leaves the folder as it is and fills another one.
    next=$(newest "$ARCHIVE" "")
    have=$(count_games "$next")
    [ "${have:-0}" -ge "$GAMES" ] || die "self-play ended with ${have:-0} of $GAMES games in $ARCHIVE/$next"
}

learn() { # learn GENERATION: from the newest games
    if $FINAL_STATUS; then run "$python" get_final_status.py --kifu-dir "$ARCHIVE"; fi
    local model games older
    model=$(network "$player") older=$(count_to_reanalyze "$1")
    if [ "$older" -gt 0 ] && [ "$model" != none ]; then
        games=$(window)
        say "generation $1: generation $player searches $older older games again"
        run "$python" tools/reanalyze.py --save-dir "$ARCHIVE" --num-data "$older" --window-size "$games" --size "$SIZE" \
            --use-gpu "$USE_GPU" --model "$model" --seed $((SEED + $1))
    fi
    [ -z "$TEACHER" ] || judge_window "$1"
    say "generation $1: training"
    train
    ! cmp -s "$MODEL/rl-candidate.bin" "$generations/$trained.bin" || die "generation $1 taught nothing: see what train.py says of its games above"
    put "$MODEL/rl-candidate.bin" "$generations/$1.bin"
}

judge_window() { # judge_window GENERATION: have the teacher judge the newest games, as far as he has not
    local games=0 have most folder
    most=$(window)
    for ((folder = $1; folder > 0 && games < most; folder--)); do
        [ -d "$ARCHIVE/$folder" ] && is_of_size "$ARCHIVE/$folder" || continue
        have=$(count_games "$folder")
        games=$((games + have))
        [ ! -f "$ARCHIVE/$folder/labels.npz" ] && [ "$have" -gt 0 ] || continue
        say "generation $folder: the teacher judges its positions"
        run "$python" tools/label.py --kifu-dir "$ARCHIVE/$folder" --out "$ARCHIVE/$folder/labels.npz" --size "$SIZE" --teacher "$TEACHER" \
            --use-gpu "$USE_GPU"
    done
}

is_of_size() { # is_of_size FOLDER: whether its games are of this size, as far as it says one
    ! grep -qs '"size"' "$1/batch.json" || grep -q "\"size\": $SIZE\b" "$1/batch.json"
}

check_size() { # refuse another board than the one that was learnt
    is_of_size "$ARCHIVE/$trained" \
        || die "SIZE=$SIZE: $ARCHIVE/$trained has games of another size, from which this network has learnt; give other folders (ARCHIVE, DATA, MODEL)"
}

count_to_reanalyze() { # count_to_reanalyze GENERATION: REANALYZE, less the games written anew since its own were begun
    local done=0
    if [ "$REANALYZE" -gt 0 ] && [ -f "$ARCHIVE/$1/batch.json" ]; then
        done=$(find -H "$ARCHIVE" -mindepth 2 -maxdepth 2 -name '[1-9]*.sgf' -newer "$ARCHIVE/$1/batch.json" ! -path "$ARCHIVE/$1/*" | wc -l)
    fi
    echo $((REANALYZE > done ? REANALYZE - done : 0))
}

window() { # prints how many of the newest games to learn from: c * (1 + 0.4 * ((N / c) ^ 0.75 - 1) / 0.75) of N (KataGo)
    local games=0 folder
    for folder in "$ARCHIVE"/*/; do games=$((games + $(count_games "$(basename "$folder")"))); done
    awk -v n="$games" -v c="$WINDOW_START" -v most="$WINDOW" 'BEGIN {
        size = c == 0 ? most : n <= c ? c : c * (1 + 0.4 * ((n / c) ^ 0.75 - 1) / 0.75)
        printf "%d\n", size < most ? size : most }'
}

train() { # train OPTION...: one pass over the newest games
    local launcher=("$python")
    [ "$GPUS" -le 1 ] || launcher=("$python" -m torch.distributed.run --standalone --nproc-per-node "$GPUS" --)
    local options=() games from
    from=$(network "$trained") # where the checkpoint is lost
    [ "$from" = none ] || options=(--start "$from")
    games=$(window)
    # shellcheck disable=SC2086 # options are words
    run "${launcher[@]}" train.py --rl true --kifu-dir "$ARCHIVE" --size "$SIZE" --window-size "$games" \
        --use-gpu "$USE_GPU" --data-dir "$DATA" --output "$MODEL/rl-candidate.bin" ${options[@]+"${options[@]}"} $TRAIN_OPTIONS "$@"
}

estimate() { # estimate GENERATION: what a generation after it would take
    [ "$GENERATIONS" -gt "$1" ] || { say "no generation is left: all of GENERATIONS=$GENERATIONS are learnt"; return 0; }
    say "$((GENERATIONS - $1)) generations are left; each of them, without matches${TEACHER:+, the teacher}$([ "$REANALYZE" -eq 0 ] || echo " and what is searched again"):"
    self_play "$1" --dry-run true
    if [ "$(newest "$ARCHIVE" "")" -gt 0 ]; then train --dry-run true
    else say "what training takes can be told once there are games"; fi
}

trained=$(newest "$generations" .bin)
if [ -n "$start" ] && ! cmp -s "$start" "$generations/0.bin"; then
    [ "$trained" -eq 0 ] && [ ! -f "$generations/0.bin" ] \
        || die "the run in $MODEL began from another network: leave out --start, or give another MODEL folder"
    $dry_run || put "$start" "$generations/0.bin"
fi
[ -z "$TEACHER" ] || [[ $TRAIN_OPTIONS == *pooled* ]] || [ -f "$(network 0)" ] \
    || say "TEACHER: only networks of --head pooled learn from what he says: TRAIN_OPTIONS=\"--head pooled --value-blend 0.5\""
check_size
if $dry_run; then
    read_player
    estimate "$trained"
    exit 0
fi
while true; do
    choose_player "$trained"
    evaluate "$trained"
    stop_if_it_degenerates "$trained"
    [ "$trained" -lt "$GENERATIONS" ] || break
    next=$(newest "$ARCHIVE" "")
    [ "$next" -gt "$trained" ] || next=$((trained + 1))
    self_play_until_complete "$next"
    learn "$next"
    trained=$next
done
say "generation $trained is complete, generation $player plays ($(network "$player")); see $MODEL/rl-metrics.csv and .png"
