"""Fine-tuning by low-rank updates: trained weights, kept weights, and accepted models."""

from dataclasses import replace

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch import nn
from transformers.pytorch_utils import Conv1D

from tests.generation.small import FAST, place
from tests.hugging_face.small import small_model
from weebill.errors import InputError
from weebill.files import read_json
from weebill.generation.int8 import load_int8, save_int8
from weebill.generation.low_rank import low_rank_updates
from weebill.generation.models import load_generator
from weebill.generation.settings import LowRankSettings
from weebill.generation.steps import FineTune, step_of
from weebill.hugging_face.families import prunable
from weebill.hugging_face.folder import load_model, save_model
from weebill.pruning.cut import cut

RANK_2 = LowRankSettings(rank=2, alpha=6)


@pytest.mark.parametrize("architecture", ["bart", "gpt2"])
def test_each_linear_map_gains_a_product_of_two_narrow_matrices(made, architecture):
    model = load_generator(made[architecture][0]).model
    before = {name: value.clone() for name, value in model.state_dict().items()}
    draw = torch.Generator().manual_seed(1)
    wanted = {}
    with low_rank_updates(model, RANK_2, seed=1) as trained:
        parameters = {name: one for name, one in model.named_parameters() if one.requires_grad}
        for value in parameters.values():
            value.data = torch.randn(value.shape, generator=draw)
        for name, a in parameters.items():
            if ".lora_A." in name:
                b = parameters[name.replace("lora_A", "lora_B")]
                wanted[name.partition(".lora_A")[0]] = 3 * b.detach() @ a.detach()
    assert trained == sum(one.numel() for one in parameters.values())
    output = model.get_output_embeddings()
    linear = {
        name
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear | Conv1D) and module is not output
    }
    assert set(wanted) == linear and len(linear) >= 12
    after = model.state_dict()
    assert after.keys() == before.keys()
    for name, value in after.items():
        module, _, kind = name.rpartition(".")
        change = torch.zeros(())
        if module in linear and kind == "weight":
            change = wanted[module].T if architecture == "gpt2" else wanted[module]
        assert torch.allclose(value, before[name] + change, atol=1e-5), name
    assert all(one.requires_grad for one in model.parameters())


def test_the_step_learns_with_few_parameters_and_says_how_many(made, tmp_path):
    where = place(made, tmp_path)
    step = step_of("fine-tune", low_rank={"rank": 2, "alpha": 6}, training={"updates": 30})
    assert step.low_rank == RANK_2
    training = replace(FAST, updates=16, accumulate=1, validate_every=5, learning_rate=0.03)
    FineTune(training=training, low_rank=RANK_2).run(where)
    lineage = read_json(where.output / "config.json")["lineage"]
    model = load_generator(where.output).model
    assert lineage["trained_parameters"] < 0.5 * model.num_parameters()
    assert lineage["low_rank"] == {"rank": 2, "alpha": 6, "dropout": 0.0}
    assert lineage["versions"].keys() >= {"peft", "torch", "transformers"}
    losses = [row["loss"] for row in lineage["course"]["validations"]]
    assert losses[-1] < losses[0] - 0.01
    fixed = load_generator(where.model).model.get_input_embeddings().weight
    assert torch.equal(fixed, model.get_input_embeddings().weight)


def test_a_model_whose_heads_were_all_pruned_in_a_layer_learns_too(made):
    model = load_generator(made["bart"][0]).model
    block = prunable(model).attention_blocks()[0]
    cut(prunable(model), {block.name: range(block.heads)}, {})
    with low_rank_updates(model, RANK_2, seed=1) as trained:
        assert trained > 0
    assert prunable(model).attention_blocks()[0].heads == 0


def test_an_adapter_that_is_not_merged_is_not_saved(tmp_path):
    """Folders of the library's classes have no tensors for an adapter; a merged adapter is part of the weights."""
    model = small_model("llama")
    adapted = get_peft_model(model, LoraConfig(r=2, lora_alpha=8, target_modules=["q_proj"]))
    updates = {name: one for name, one in model.named_parameters() if ".lora_" in name}
    for update in updates.values():
        nn.init.normal_(update)
    for save in (
        lambda: save_int8(model, tmp_path / "m"),
        lambda: save_model(tmp_path / "m", model),
    ):
        with pytest.raises(InputError, match=r"has no '.*q_proj\.base_layer.*merge_and_unload"):
            save()
    for wrapper in (adapted, nn.DataParallel(model)):
        with pytest.raises(InputError, match="is no model of transformers; save the one that it h"):
            save_int8(wrapper, tmp_path / "m")
    assert not (tmp_path / "m").exists()
    adapted.save_pretrained(tmp_path / "adapter")
    for load in (load_int8, load_model, load_generator):
        with pytest.raises(InputError, match=r"adapter_config\.json: an adapter changes another"):
            load(tmp_path / "adapter")
    save_model(tmp_path / "m", adapted.merge_and_unload())
    found, whole = load_model(tmp_path / "m"), small_model("llama")
    for name, a in updates.items():
        b = updates[name.replace("lora_A", "lora_B")]
        if a is not b:
            place = f"{name.partition('.lora_A')[0]}.weight"
            expected = whole.get_parameter(place) + 4 * b @ a  # α / r
            torch.testing.assert_close(found.get_parameter(place), expected)
