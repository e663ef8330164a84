"""Forks of the tests' process work, whatever earlier tests have started in it."""

import multiprocessing
import os

import vl_convert

from tests.forking import fork

PICTURE = {
    "data": {"values": [{"a": 1}]},
    "mark": "bar",
    "encoding": {"x": {"field": "a", "type": "quantitative"}},
}


def _draw() -> None:
    assert vl_convert.vegalite_to_svg(PICTURE).startswith("<svg")


def _start_from_a_server() -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([])  # those of earlier tests are slow
    process = context.Process(target=os.getpid)
    process.start()
    process.join()
    assert process.exitcode == 0


def _works_here_and_in_a_fork(work) -> None:
    work()
    process = fork(work)
    process.join(120)
    process.kill()
    assert process.exitcode == 0


def test_a_fork_draws_after_its_parent_has_drawn():
    _works_here_and_in_a_fork(_draw)


def test_a_fork_starts_a_server_of_its_own():
    _works_here_and_in_a_fork(_start_from_a_server)
