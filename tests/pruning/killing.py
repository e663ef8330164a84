"""Prunings of the toy, killed repeatedly, and compared with an undisturbed pruning."""

import os
import random
import signal
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from tests.pruning.toy import ToyStudy
from weebill.files import read_json, write_json
from weebill.pruning.method import Method, Pruned


def killed_at(tick: int, method: Method, work: Path) -> bool:
    """Prune in a process that kills itself at its `tick`-th update or file; return True if it finished before."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert status == 0 or os.WTERMSIG(status) == signal.SIGKILL
        return status == 0
    left = tick

    def count():
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    replace = os.replace

    def replace_between_two_moments(source, target):
        count()
        replace(source, target)
        count()

    code = 1
    try:
        os.replace = replace_between_two_moments
        pruned = method.prune(ToyStudy(count), work)
        os.replace = replace
        save_file(pruned.model.state_dict(), work / "model.safetensors")
        write_json(work / "history.json", pruned.history)
        code = 0
    finally:
        os._exit(code)


def check_killed_anywhere_it_ends_the_same(
    seed: int, method: Method, undisturbed: Pruned, work: Path
) -> None:
    """Kill a pruning at random moments (from the seed) until it finishes; compare all bits of its result."""
    random.seed(seed)
    kills = 0
    while not killed_at(random.randint(1, 15), method, work):
        kills += 1
        assert kills < 100, "no progress between kills"
    assert kills >= 2
    write_json(work / "expected.json", undisturbed.history)
    assert read_json(work / "history.json") == read_json(work / "expected.json")
    state = load_file(work / "model.safetensors")
    expected = undisturbed.model.state_dict()
    assert state.keys() == expected.keys()
    assert all(torch.equal(state[name], expected[name]) for name in expected)
