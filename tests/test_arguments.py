"""A wrong word on the command line gets the nearest right one."""

import pytest

from weebill.__main__ import main


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["trnslate"], "argument COMMAND: found 'trnslate', expected one of "),
        (["trnslate"], "did you mean 'translate'?"),
        (["check", "x.yaml", "--confg"], "unknown argument '--confg'"),
        (["describe", "tiny", "--vocabulry=9"], "did you mean '--vocabulary'?"),
        (["mbr", "--utility", "blue"], "did you mean 'bleu'?"),
        (["benchmark", "sarch"], "did you mean 'search'?"),
        (["export", "a", "b"], "unknown argument 'b'; --help lists all"),
    ],
)
def test_nearest_word(capsys, words, told):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert told in capsys.readouterr().err
