"""Threads that take turns: in order, one at a time, together in between; what fails is raised and nobody is left."""

import threading
import time

import pytest

from mcts.relay import Relay


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_turns_have_an_order_and_never_overlap(threads: int) -> None:
    relay, order, inside = Relay[int](threads), list[int](), threading.Lock()
    assert relay.threads == threads
    left = {n: n + 2 for n in range(threads)}  # they leave at different times

    def turn(me: int | None) -> int | None:
        assert inside.acquire(blocking=False), "another thread has its turn"
        me = len(order) if me is None else me
        order.append(me)
        left[me] -= 1
        inside.release()
        return me if left[me] else None

    for _ in range(2):  # the threads are used again
        order.clear()
        left.update((n, n + 2) for n in range(threads))
        relay.run(turn, lambda me: time.sleep(0.001 * (threads - me)))
        rounds = [[n for n in range(threads) if n + 2 > number] for number in range(threads + 1)]
        assert order == [n for members in rounds for n in members]


@pytest.mark.parametrize(("lengths", "expected"), [
    ((3, 1), [0, 1, 1, 1, 0, 1, 1, 1, 0]),
    ((0, 2), [0, 1, 0, 1, 0, 1, 0, 1, 0]),  # who has nothing to do waits for the other's turn, and no longer
    ((2, 0.5, 1), [0, 1, 2, 1, 2, 1, 1, 0, 2]),
    ((2, 0, 0), [0, 1, 2, 1, 0, 2, 1, 0, 2]),  # two who have nothing to do wait for the third, not for each other
])
@pytest.mark.parametrize("late", [0, 1])
def test_turns_follow_a_clock_of_their_own(lengths: tuple[float, ...], expected: list[int], late: int) -> None:
    """Who has a short task comes again before a long one ends, whatever time either takes in truth."""
    order: list[int] = []

    def turn(me: int | None) -> int | None:
        me = len(order) if me is None else me
        order.append(me)
        return me if len(order) < len(expected) else None

    def between(me: int) -> None:
        time.sleep(0.005 if me == late else 0.0)

    Relay[int](len(lengths), lengths.__getitem__).run(turn, between)
    assert order[:len(expected)] == expected


def test_threads_are_together_between_turns() -> None:
    """All have to be there before any goes on: with turns in between that waited for each other, none would."""
    barrier, rounds = threading.Barrier(3), dict[int, int]()

    def turn(me: int | None) -> int | None:
        me = len(rounds) if me is None else me
        rounds[me] = rounds.get(me, 0) + 1
        return me if rounds[me] < 5 else None

    Relay[int](3).run(turn, lambda _: (barrier.wait(60), None)[1])
    assert rounds == {0: 5, 1: 5, 2: 5}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("where", ["turn", "between"])
def test_a_failure_is_raised_and_ends_all(threads: int, where: str) -> None:
    relay, calls = Relay[int](threads), {"turn": 0, "between": 0}

    def count(place: str) -> int:
        calls[place] += 1
        if place == where and calls[place] == 4:
            raise ValueError("broken")
        return calls[place]

    with pytest.raises(ValueError, match="broken"):
        relay.run(lambda _: count("turn"), lambda _: (count("between"), None)[1])
    assert calls["turn"] < 12
    seen = list[int | None]()

    def look(last: int | None) -> int | None:
        seen.append(last)
        return None

    relay.run(look, lambda _: None)
    assert seen == [None] * threads, "it can be used again"


def test_an_interruption_waits_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    relay, ended = Relay[int](2), list[int]()

    def interrupt(runs: list[object]) -> None:
        monkeypatch.undo()
        time.sleep(0.02)
        raise KeyboardInterrupt

    def work(number: int) -> None:
        time.sleep(0.001)
        ended.append(number)

    monkeypatch.setattr("mcts.relay.wait", interrupt)
    with pytest.raises(KeyboardInterrupt):
        relay.run(lambda _: 1, work)
    count = len(ended)
    time.sleep(0.02)
    assert len(ended) == count > 0, "nobody goes on behind the caller's back"


@pytest.mark.parametrize("where", ["Ring.hand_over", "ThreadPoolExecutor.submit"])
def test_an_interruption_at_the_begin_leaves_nobody_waiting(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    relay, seen, ended = Relay[int](2), list[int](), threading.Event()

    def interrupt(*_: object) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    def use_it_twice() -> None:
        with pytest.raises(KeyboardInterrupt):
            relay.run(lambda _: seen.append(1), lambda _: None)
        assert not seen
        relay.run(lambda _: seen.append(2), lambda _: None)
        ended.set()

    monkeypatch.setattr(f"mcts.relay.{where}", interrupt)
    threading.Thread(target=use_it_twice, daemon=True).start()
    assert ended.wait(60) and seen == [2, 2]
