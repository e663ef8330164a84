"""`weebill benchmark mbr`: candidates differ, and with a tiny model the choices are those of mbrs."""

import json
import logging

import pytest

from tests.metric.comet_environment import COMET
from tests.metric.small import REFERENCES
from weebill.__main__ import main
from weebill.errors import InputError
from weebill.metric.mbr import varied


def test_candidates_differ_and_are_of_the_same_words():
    found = varied(REFERENCES, 40)
    assert len(set(found)) == 40 and found[: len(REFERENCES)] == REFERENCES
    words = {word for line in REFERENCES for word in line.split()}
    assert all(set(line.split()) <= words and line for line in found)
    assert varied(REFERENCES, 40) == found != varied(REFERENCES, 40, seed=2)


@pytest.mark.parametrize("texts", [["Ja.", "", "Nein."], ["Guten Tag."]])
def test_too_few_words_for_so_many(texts):
    with pytest.raises(InputError, match=f"'{texts[0]}' .*: too few words for 40 candidates"):
        varied(texts, 40)


def test_figures(news, capsys):
    if not list(COMET.parents[1].glob("lib/python3*/site-packages/mbrs")):
        pytest.skip(f"mbrs is not here; envs/install.sh comet {COMET.parents[1]}")
    options = ["--rounds", "1", "--shape", "tiny", "--candidates", "9", "--sources", "3"]
    command = ["benchmark", "mbr", *options, "--news", str(news), "--mbrs", str(COMET), "--json"]
    assert main(command) == 0
    exact, rounded, integers = json.loads(capsys.readouterr().out)
    assert "float32; 3 of 3 choices are the same" in exact["claim"]
    assert "bfloat16" in rounded["claim"] and "int8" in integers["claim"]
    assert all(row["ours"] > 0 and row["other"] > 0 for row in (exact, rounded, integers))


def test_what_is_not_there(news, capsys, caplog):
    caplog.set_level(logging.CRITICAL)
    none = str(news / "none/bin/python")
    command = ["benchmark", "mbr", "--shape", "tiny", "--sources", "1", "--news", str(news)]
    assert main([*command, "--mbrs", none]) == 1
    assert f"--mbrs {none}" in capsys.readouterr().err
