"""The registry of methods: settings without torch, and a method made of one file and one entry."""

import subprocess
import sys
from dataclasses import asdict, dataclass

import pytest

from tests.pruning.toy import HEADS, LAYERS, ToyStudy
from weebill.configuration.checking import check
from weebill.configuration.schema import ConfigurationError, load_schema
from weebill.configuration.zoo_file import load_zoo
from weebill.pruning.cut import cut
from weebill.pruning.history import History
from weebill.pruning.method import AtOnce, BlockMethod, BlockPattern, Removed
from weebill.pruning.methods import METHODS, pruning_method
from weebill.pruning.recipes import comparisons
from weebill.report.tables.pruning import recipes_table
from weebill.settings import Count


@dataclass(frozen=True)
class FirstHeads(AtOnce, BlockMethod):
    """Remove the first heads of each block."""

    heads: Count = 1
    """Heads removed from each block."""
    reset_to: Count = 2
    """Updates of training before the removal."""
    blocks: BlockPattern = "encoder.*"
    """Pattern of the names of the blocks."""

    label = "first-heads"
    parts = frozenset({"heads"})

    def removes(self, shape):
        return Removed(self.blocks, heads=self.heads * len(shape.matching(self.blocks).heads))

    def cut(self, study, model):
        history = History(model, asdict(self))
        heads = {block.name: list(range(self.heads)) for block in model.attention_blocks()}
        history.remove(heads)
        cut(model, heads)
        return history


@pytest.fixture
def registered(monkeypatch):
    """Add the method to the registry, and to the schema made from it."""
    monkeypatch.setitem(METHODS._places, "first-heads", f"{__name__}:FirstHeads")
    load_schema.cache_clear()
    yield
    load_schema.cache_clear()


def experiment(**recipes):
    """Return an experiment of two students of 6 encoder layers with 8 heads."""

    def corpus(name):
        return {"importer": "files", "source": f"{name}.en", "target": f"{name}.de"}

    return {
        "experiment": "trial",
        "languages": {"source": "en", "target": "de"},
        "corpora": {"news": corpus("news")},
        "validation": corpus("validation"),
        "test_sets": {"test": corpus("test")},
        "teacher": {"architecture": "tiny"},
        "students": ["tiny"],
        "pruning": recipes,
    }


def test_one_entry_makes_a_method_of_every_part(registered, tmp_path):
    """Defaults, faults, comparisons, the report's table and the pruning itself come from its class."""
    first = {"method": "first-heads", "heads": 2}
    chance = {"method": "one-shot", "criterion": "random", "heads": 0.25}
    config = check(experiment(first=first, chance=chance), "x.yaml")
    assert config["pruning"]["first"] == {**first, "reset_to": 2, "blocks": "encoder.*"}
    pairs = comparisons(config, load_zoo())["tiny", "first"]
    assert [other[1] for _, other in pairs] == ["unpruned", "chance"]  # 12 of 48 heads, both
    [row, _] = recipes_table(config["pruning"]).rows
    assert [cell.text for cell in row.cells[:2]] == ["first", "first-heads"]
    with pytest.raises(ConfigurationError) as refusal:
        check(experiment(none={**first, "heads": 0}, wrong={**first, "head": 1}), "x.yaml")
    none, wrong = str(refusal.value).splitlines()
    assert none == "x.yaml: pruning.none.heads: found 0, expected at least 1"
    assert wrong.startswith(
        "x.yaml: pruning.wrong.head: unknown key, expected one of method, heads,"
    )
    with pytest.raises(
        ConfigurationError, match="found 54 heads, expected at most 48, the heads of"
    ):
        check(experiment(many={**first, "heads": 9}), "x.yaml")
    pruned = pruning_method(config["pruning"]["first"]).prune(ToyStudy(), tmp_path / "work")
    assert [block.heads for block in pruned.model.attention_blocks()] == [HEADS - 2] * LAYERS


def test_settings_are_read_without_torch():
    """Neither the methods nor the questions of `configuration` about recipes need torch."""
    code = (
        "import sys; from weebill.pruning import recipes; from weebill.pruning.methods import *\n"
        "assert len([*METHODS.values()]) == len(METHODS); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
