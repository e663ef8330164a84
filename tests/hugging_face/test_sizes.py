"""Parameters of published models, whole and cut: by arithmetic, and as printed in the papers.

The models have their real shapes and no weights.
"""

import csv
from pathlib import Path

import pytest
import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    BertConfig,
    BertModel,
    GPT2Config,
    GPT2LMHeadModel,
    XLMRobertaConfig,
    XLMRobertaModel,
)

import weebill.report
from weebill.configuration.checking import check
from weebill.experiment.metrics import pruned_metrics
from weebill.experiment.shares import part_of
from weebill.hugging_face.families import prunable
from weebill.metric.architecture import Architecture
from weebill.metric.network import MetricNetwork
from weebill.pruning.cut import cut
from weebill.pruning.depth import cut_layers
from weebill.yaml_files import read_yaml

CONFIG = Path(__file__).parents[2] / "config/cometinho.yaml"
PAPERS = Path(weebill.report.__file__).parent / "papers"


def hidden_sizes(section):
    """Return the widths of the estimator in the configuration of the paper's size."""
    return tuple(read_yaml(CONFIG)[section]["training"]["hyperparameters"]["hidden_sizes"])


def metric():
    """Make a COMET model of XLM-R-large."""
    config = XLMRobertaConfig(
        vocab_size=250_002,
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
        max_position_embeddings=514,
        type_vocab_size=1,
    )
    encoder = XLMRobertaModel(config, add_pooling_layer=False)
    return MetricNetwork(Architecture(hidden_sizes=hidden_sizes("reference")), encoder)


def distilled_metric():
    """Make DISTIL-COMET with Multilingual-MiniLM, BERT's shape and a pooler."""
    config = BertConfig(
        vocab_size=250_037,
        hidden_size=384,
        num_hidden_layers=12,
        num_attention_heads=12,
        intermediate_size=1536,
        max_position_embeddings=512,
        type_vocab_size=2,
    )
    return MetricNetwork(Architecture(hidden_sizes=hidden_sizes("distillation")), BertModel(config))


def bart_large(layers=12):
    """Make facebook/bart-large: the library's default configuration, written out."""
    sides = {
        f"{side}_{name}": value
        for side in ("encoder", "decoder")
        for name, value in {"layers": layers, "attention_heads": 16, "ffn_dim": 4096}.items()
    }
    config = BartConfig(vocab_size=50_265, d_model=1024, max_position_embeddings=1024, **sides)
    return BartForConditionalGeneration(config)


def gpt2_small():
    return GPT2LMHeadModel(
        GPT2Config(vocab_size=50_257, n_positions=1024, n_embd=768, n_layer=12, n_head=12)
    )


def parameters(model):
    return sum(parameter.numel() for parameter in model.parameters())


def gib(model):
    """Return the GiB of a model's parameters in float32."""
    return parameters(model) * 4 / 2**30


def without(make, heads=0, neurons=0, **layers):
    """Make a model without weights, whose blocks lack some heads or neurons and whose stacks lack top layers."""
    with torch.device("meta"):
        model = make()
    view = prunable(model)
    for stack, count in layers.items():
        cut_layers(view, stack, count)
    cut(
        view,
        {block.name: range(heads) for block in view.attention_blocks()},
        {block.name: range(neurons) for block in view.feed_forward_blocks()},
    )
    return model


def printed(file_name, **where):
    """Return the only row of a paper's table with these values in these columns."""
    with (PAPERS / file_name).open(newline="") as file:
        (row,) = (
            row
            for row in csv.DictReader(file)
            if all(row[column] == value for column, value in where.items())
        )
    return row


@pytest.mark.parametrize(
    ("make", "total", "blocks", "layers", "width", "head_size"),
    [
        (metric, 582_439_963, 24, 24, 1024, 64),
        (bart_large, 406_291_456, 36, 24, 1024, 64),
        (gpt2_small, 124_439_808, 12, 12, 768, 64),
    ],
)
def test_parameters_fall_by_arithmetic(make, total, blocks, layers, width, head_size):
    whole = parameters(without(make))
    assert whole == total
    heads = blocks * 3 * (4 * width * head_size + 3 * head_size)
    neurons = layers * 500 * (2 * width + 1)
    assert whole - parameters(without(make, heads=3)) == heads
    assert whole - parameters(without(make, neurons=500)) == neurons
    assert whole - parameters(without(make, heads=3, neurons=500)) == heads + neurons


def test_layers_of_a_metric():
    """COMETINHO §4.1: one layer of XLM-R-large is 2.16 %, five are 10.8 %, of the model."""
    whole = parameters(without(metric))
    assert round(whole / 1e6) == int(printed("cometinho_table1.csv", metric="COMET")["params_m"])
    layer = 4 * 1024**2 + 4 * 1024 + 2 * 1024 * 4096 + 4096 + 1024 + 4 * 1024
    for count, claim in [
        (1, "parameters removed per pruned XLM-R-large layer"),
        (5, "parameters removed by pruning 5 top layers"),
    ]:
        gone = whole - parameters(without(metric, encoder=count))
        assert gone == count * layer
        value = printed("cometinho_claims.csv", claim=claim)["value"]
        assert f"{100 * gone / whole:.{len(value.split('.')[1])}f}" == value


def test_the_estimator_of_a_metric():
    """The hidden sizes of unbabel-comet's own configuration, 3072 and 1024, do not give COMETINHO's parameters."""
    whole = parameters(without(metric))
    other = whole - 512 * (3072 + 1 + 1)
    assert hidden_sizes("reference") == (3072, 1536)
    paper = int(printed("cometinho_table1.csv", metric="COMET")["params_m"])
    assert (round(whole / 1e6), round(other / 1e6)) == (paper, paper - 1)


@pytest.mark.parametrize("name", ["pruned", "pruned-19-layers"])
def test_pruned_metric(name):
    """COMETINHO §4.3: 18 layers with 14 heads, and 19 layers with 12 heads, have the printed parameters."""
    recipe = pruned_metrics(check(read_yaml(CONFIG), str(CONFIG)))[name]
    layers, shares = recipe
    gone = {
        "encoder": layers["layers"],
        "heads": int(16 * shares["heads"]),
        "neurons": int(4096 * shares["neurons"]),
    }
    assert (gone["encoder"], gone["heads"]) in ((6, 2), (5, 4))
    whole, pruned = (parameters(without(metric, **one)) for one in ({}, gone))
    assert round(pruned / 1e6) == int(
        printed("cometinho_table1.csv", metric="PRUNE-COMET")["params_m"]
    )
    claim = "PRUNE-COMET parameter reduction (19 layers; FFN 3072; 14 heads)"
    share = float(printed("cometinho_claims.csv", claim=claim)["value"])
    assert round(100 * (1 - pruned / whole), 1) == share


def test_distilled_metric():
    """COMETINHO §5 and table 1; the encoder's parameters are printed without a fraction."""
    whole = parameters(without(metric))
    with torch.device("meta"):
        distilled = distilled_metric()
    row = printed("cometinho_table1.csv", metric="DISTIL-COMET")
    assert round(parameters(distilled) / 1e6) == int(row["params_m"])
    encoder = printed("cometinho_claims.csv", claim="DISTIL-COMET encoder")["value"]
    assert f"{parameters(distilled.encoder) // 10**6}M parameters" in encoder
    share = printed("cometinho_claims.csv", claim="DISTIL-COMET size reduction")["value"]
    assert round(100 * (1 - parameters(distilled) / whole)) == int(share)


def test_sizes_of_bart():
    """TEXTGEN table 6, in GiB of float32: 4 of 16 heads and 60 % of the neurons of 6 + 6 layers are removed."""
    half = {"encoder": 6, "decoder": 6}
    sizes = {
        "fine-tuned": without(bart_large),
        "distilled": without(bart_large, **half),
        "pruned": without(bart_large, heads=part_of(0.3, 16), neurons=part_of(0.6, 4096), **half),
    }
    for variant, model in sizes.items():
        row = printed("textgen_tables.csv", table="6", model="bart-large-cnn", variant=variant)
        assert round(gib(model), 2) == float(row["size_gb"]), variant
    assert parameters(sizes["distilled"]) == parameters(without(lambda: bart_large(layers=6)))


def test_sizes_of_gpt2():
    """TEXTGEN table 7: the halves in GiB of float32; 3 of 12 heads and 60 % of the neurons of 6 layers are removed.

    The whole model's figure is the size of the published file in GB.  This file has a causal mask of 1024 by 1024
    float32 numbers for each layer.
    """
    sizes = {
        "distilled": without(gpt2_small, decoder=6),
        "pruned": without(
            gpt2_small, heads=part_of(0.3, 12), neurons=part_of(0.6, 3072), decoder=6
        ),
    }
    for variant, model in sizes.items():
        row = printed("textgen_tables.csv", table="7", model="gpt2", variant=variant)
        assert round(gib(model), 2) == float(row["size_gb"]), variant
    row = printed("textgen_tables.csv", table="7", model="gpt2", variant="fine-tuned")
    file = 4 * (parameters(without(gpt2_small)) + 12 * 1024**2)
    assert round(file / 1e9, 3) == float(row["size_gb"])
