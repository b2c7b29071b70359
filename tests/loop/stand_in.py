"""Stands in for the Python that pipeline.sh starts: quick programs with the files of the real ones, and a weak heart.

Called as `stand_in PROGRAM OPTIONS`. A network is the text of the generations it has learnt from. With DEATHS=p every
step kills this program and the loop above it with probability p, as a power cut would; with the same DEATH_SEED and the
same files it is the same step.

It is started four hundred times: json, pathlib, random and signal would make a start twice as long.
"""

import _signal as signal
import os
import sys
import time

DEATHS = float(os.environ.get("DEATHS", "0"))


def read(path: str) -> str:
    """Return what a file says."""
    with open(path) as file:
        return file.read()


def may_die() -> None:
    """Die, maybe, and never alone."""
    if DEATHS:
        import random  # which has its seed from main()
        if random.random() < DEATHS:
            parent = f"/proc/{os.getppid()}/cmdline"
            if not os.path.exists(parent) or "pipeline.sh" in read(parent):  # nobody else, where it is dead already
                os.kill(os.getppid(), signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(float(os.environ.get("STEP_SECONDS", "0")))


def put(path: str, text: str) -> None:
    """Write a file as a whole, with a chance to die before and after."""
    may_die()
    with open(path + ".tmp", "w") as file:
        file.write(text)
    os.replace(path + ".tmp", path)
    may_die()


def folders(archive: str) -> list[int]:
    """Return the numbers of the generations."""
    return sorted(map(int, os.listdir(archive)))


def records(folder: str) -> list[str]:
    """Return the files of a folder's games."""
    return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".sgf")]


def play_games(options: dict[str, str]) -> None:
    """Fill the newest folder that is not complete, or a new one; a game names the network that played it."""
    if "--dry-run" in options:
        print("hours of self-play")
        return
    archive, games = options["--save-dir"], int(options["--num-data"])
    network = "nothing" if options["--model"] == "none" else read(options["--model"])
    newest = max(folders(archive), default=0)
    folder = os.path.join(archive, str(newest))
    if newest == 0 or "OTHER_SETTINGS" in os.environ or len(records(folder)) >= games:
        folder = os.path.join(archive, str(newest + 1))
        os.mkdir(folder)
        if "BATCH_FILE" in os.environ:
            open(os.path.join(folder, "batch.json"), "w").close()
    for number in range(1, games + 1):
        path = os.path.join(folder, f"{number}.sgf")
        if not os.path.exists(path):
            put(path, network)


def learn(options: dict[str, str]) -> None:
    """Learn from the newest generation, unless that is done already."""
    if "--dry-run" in options:
        print("hours of training")
        return
    print(f"learning from {options['--window-size']} games")
    newest = max(folders(options["--kifu-dir"]))
    candidate = options["--output"]
    state = os.path.join(os.path.dirname(candidate), "rl-state.ckpt")
    if os.path.exists(state):
        known = read(state)
    elif "--start" in options:
        known = read(options["--start"])
    else:
        known = "nothing"
    if known.split()[-1] != str(newest):
        known = f"{known} {newest}"
    put(candidate, known)
    put(state, known)


def search_again(options: dict[str, str]) -> None:
    """Say which network searches how many games, and write the oldest ones before the newest folder anew."""
    network, archive = read(options["--model"]), options["--save-dir"]
    older = [path for number in folders(archive)[:-1] for path in records(os.path.join(archive, str(number)))]
    for path in sorted(older, key=lambda path: os.stat(path).st_mtime_ns)[:int(options["--num-data"])]:
        put(path, read(path))
    print(f"{options['--num-data']} of {options['--window-size']} games searched by {network!r}")


def judge_games(options: dict[str, str]) -> None:
    """Write a file of labels that names its engine."""
    put(options["--out"], options["--teacher"])


def play_match(options: dict[str, str]) -> None:
    """Play the games that are missing; generation 2 loses all, other new ones win, unless WINNER says otherwise."""
    folder = options["--dir"]
    os.makedirs(folder, exist_ok=True)
    file = os.path.join(folder, "games.jsonl")
    done = len(read(file).splitlines()) if os.path.exists(file) else 0
    winner = os.environ.get("WINNER") or ("second" if os.path.basename(folder).startswith("2-") else "first")
    for _ in range(done, int(options["--games"])):
        may_die()
        with open(file, "a") as stream:
            stream.write(f'{{"winner": "{winner}"}}\n')


def judge(options: dict[str, str]) -> None:
    """Find fault with the generation that DEGENERATE names, unless nobody wants to hear of it."""
    generations = os.path.join(os.path.dirname(options["--metrics"]), "generations")
    newest = max(int(name.removesuffix(".bin")) for name in os.listdir(generations) if name.endswith(".bin"))
    if newest == int(os.environ.get("DEGENERATE", "0")) and options["--length-percent"] != "0":
        sys.exit(3)


PROGRAMS = {"selfplay_main.py": play_games, "train.py": learn, "match.py": play_match, "elo_curve.py": lambda _: None,
            "stop_rule.py": judge, "reanalyze.py": search_again, "label.py": judge_games}


def main() -> None:
    """Play the part of the program named first."""
    words = sys.argv[2:]
    if DEATHS:
        import random
        # Folders of a test differ from run to run, the names in them do not.
        names = (os.path.basename(word.rstrip("/")) for word in words)
        random.seed(" ".join([os.environ.get("DEATH_SEED", ""), sys.argv[1], *names]))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    # --names takes two words, all others one; nobody here asks for names.
    if "--names" in words:
        at = words.index("--names")
        del words[at:at + 3]
    PROGRAMS[os.path.basename(sys.argv[1])](dict(zip(words[::2], words[1::2], strict=True)))


if __name__ == "__main__":
    main()
