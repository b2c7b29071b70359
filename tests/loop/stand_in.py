"""Stands in for the Python that pipeline.sh starts: quick programs with the files of the real ones, and a weak heart.

Called as `stand_in PROGRAM OPTIONS`. A network is the text of the generations it has learnt from. With DEATHS=p every
step kills this program and the loop above it with probability p, as a power cut would; with the same DEATH_SEED and the
same files it is the same step.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path


def may_die() -> None:
    """Die, maybe, and never alone."""
    if random.random() < float(os.environ.get("DEATHS", "0")):
        parent = Path(f"/proc/{os.getppid()}/cmdline")
        if not parent.exists() or b"pipeline.sh" in parent.read_bytes():  # nobody else, where it is dead already
            os.kill(os.getppid(), signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(float(os.environ.get("STEP_SECONDS", "0")))


def put(path: Path, text: str) -> None:
    """Write a file as a whole, with a chance to die before and after."""
    may_die()
    path.with_name(path.name + ".tmp").write_text(text)
    os.replace(path.with_name(path.name + ".tmp"), path)
    may_die()


def folders(archive: Path) -> list[int]:
    """Return the numbers of the generations."""
    return sorted(int(path.name) for path in archive.iterdir())


def play_games(options: dict[str, str]) -> None:
    """Fill the newest folder that is not complete, or a new one; a game names the network that played it."""
    if "--dry-run" in options:
        print("hours of self-play")
        return
    archive, games = Path(options["--save-dir"]), int(options["--num-data"])
    network = "nothing" if options["--model"] == "none" else Path(options["--model"]).read_text()
    newest = max(folders(archive), default=0)
    if newest == 0 or "OTHER_SETTINGS" in os.environ or len(list((archive / str(newest)).glob("*.sgf"))) >= games:
        newest += 1
        (archive / str(newest)).mkdir()
        if "BATCH_FILE" in os.environ:
            (archive / str(newest) / "batch.json").touch()
    for number in range(1, games + 1):
        path = archive / str(newest) / f"{number}.sgf"
        if not path.exists():
            put(path, network)


def learn(options: dict[str, str]) -> None:
    """Learn from the newest generation, unless that is done already."""
    if "--dry-run" in options:
        print("hours of training")
        return
    print(f"learning from {options['--window-size']} games")
    newest = max(folders(Path(options["--kifu-dir"])))
    candidate = Path(options["--output"])
    state = candidate.with_name("rl-state.ckpt")
    if state.exists():
        known = state.read_text()
    else:
        known = Path(options["--start"]).read_text() if "--start" in options else "nothing"
    if known.split()[-1] != str(newest):
        known = f"{known} {newest}"
    put(candidate, known)
    put(state, known)


def search_again(options: dict[str, str]) -> None:
    """Say which network searches how many games, and write the oldest ones before the newest folder anew."""
    network, archive = Path(options["--model"]).read_text(), Path(options["--save-dir"])
    older = [path for number in folders(archive)[:-1] for path in (archive / str(number)).glob("*.sgf")]
    for path in sorted(older, key=lambda path: path.stat().st_mtime_ns)[:int(options["--num-data"])]:
        put(path, path.read_text())
    print(f"{options['--num-data']} of {options['--window-size']} games searched by {network!r}")


def judge_games(options: dict[str, str]) -> None:
    """Write a file of labels that names its engine."""
    put(Path(options["--out"]), options["--teacher"])


def play_match(options: dict[str, str]) -> None:
    """Play the games that are missing; generation 2 loses all, other new ones win, unless WINNER says otherwise."""
    folder = Path(options["--dir"])
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "games.jsonl"
    done = len(file.read_text().splitlines()) if file.exists() else 0
    winner = os.environ.get("WINNER") or ("second" if folder.name.startswith("2-") else "first")
    for _ in range(done, int(options["--games"])):
        may_die()
        with file.open("a") as stream:
            stream.write(json.dumps({"winner": winner}) + "\n")


def judge(options: dict[str, str]) -> None:
    """Find fault with the generation that DEGENERATE names, unless nobody wants to hear of it."""
    generations = Path(options["--metrics"]).with_name("generations")
    newest = max(int(path.stem) for path in generations.glob("*.bin"))
    if newest == int(os.environ.get("DEGENERATE", "0")) and options["--length-percent"] != "0":
        sys.exit(3)


PROGRAMS = {"selfplay_main.py": play_games, "train.py": learn, "match.py": play_match, "elo_curve.py": lambda _: None,
            "stop_rule.py": judge, "reanalyze.py": search_again, "label.py": judge_games}


def main() -> None:
    """Play the part of the program named first."""
    words = sys.argv[2:]
    # Folders of a test differ from run to run, the names in them do not.
    random.seed(" ".join([os.environ.get("DEATH_SEED", ""), sys.argv[1], *(Path(word).name for word in words)]))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
    # --names takes two words, all others one; nobody here asks for names.
    if "--names" in words:
        at = words.index("--names")
        del words[at:at + 3]
    PROGRAMS[Path(sys.argv[1]).name](dict(zip(words[::2], words[1::2], strict=True)))


if __name__ == "__main__":
    main()
