"""Int8 models, compared with float32 models of the same numbers; their folders, and refused models."""

import functools

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM
from transformers.pytorch_utils import Conv1D

from tests.forking import fork
from tests.hugging_face.small import (
    DECODERS,
    GENERATORS,
    HEADS,
    MORE,
    NEURONS,
    PIECES,
    WIDTH,
    logits,
    small_batch,
    small_model,
)
from weebill.errors import InputError
from weebill.files import read_json, write_json
from weebill.generation.int8 import Int8Positions, calibrated_scales, load_int8, save_int8
from weebill.generation.quantizable import weights_on_grid
from weebill.hugging_face.families import prunable
from weebill.hugging_face.folder import load_model, save_model
from weebill.hugging_face.t5 import TABLE
from weebill.kernels.extension import available
from weebill.kernels.int8_layers import Int8Weight
from weebill.pruning.cut import cut
from weebill.quantization.int4_groups import round_weight

ENGINES = [*available(), "portable"]


def cut_model(family):
    """Cut all heads of one attention and some of another, and feed-forward neurons likewise."""
    model = small_model(family)
    view = prunable(model)
    attentions, feed_forwards = view.attention_blocks(), view.feed_forward_blocks()
    cut(
        view,
        {attentions[0].name: range(HEADS), attentions[-1].name: range(1)},
        {feed_forwards[0].name: range(NEURONS), feed_forwards[-1].name: range(7)},
    )
    return model


def rounded(matrix):
    """Return each row rounded to multiples of 1/127 of its largest magnitude."""
    largest = matrix.abs().amax(1, keepdim=True)
    scale = torch.where(largest > 0, 127 / largest, torch.ones_like(largest))
    return (matrix * scale).round() / scale


def dequantized(model, scales=None, rounded_weight=rounded):
    """Return the model with rounded weights; its linear maps also round their inputs."""
    done = set()
    with torch.no_grad():
        for name, module in model.named_modules():
            weight = getattr(module, "weight", None)
            if "embed_positions" in name and not type(module).__name__.startswith("Bart"):
                continue  # stays float32: computed in another way, or small
            if weight is None or weight.dim() != 2 or not weight.numel() or name.endswith(TABLE):
                continue
            if id(weight) not in done:
                done.add(id(weight))
                transposed = isinstance(module, Conv1D)
                rows = weight.t() if transposed else weight
                weight.copy_(rounded_weight(rows).t() if transposed else rounded_weight(rows))
            if not isinstance(module, torch.nn.Embedding):
                scale = None if scales is None else scales[name]

                def round_input(_, arguments, scale=scale):
                    (x,) = arguments
                    if scale is None:
                        return (rounded(x.flatten(0, -2)).view(x.shape),)
                    return ((x * scale).round().clamp(-127, 127) / scale,)

                module.register_forward_pre_hook(round_input)
    return model


def generated(model, family, **options):
    batch = small_batch(family)
    batch = {name: batch[name] for name in ("input_ids", "attention_mask")}
    if family in DECODERS:  # models without an encoder pad on the left
        batch = {name: value.flip(1) for name, value in batch.items()}
    return model.generate(**batch, do_sample=False, max_new_tokens=9, **options).tolist()


def said(model, family):
    """Return a model's logits, and its texts with three beams; test_int8_facts.py has greedy ones."""
    with torch.inference_mode():
        logits = model(**small_batch(family)).logits
    return logits, generated(model, family, num_beams=3)


@functools.cache
def said_by_the_rounded_model(make, family):
    return said(dequantized(make(family)), family)


@pytest.mark.parametrize("engine", range(len(ENGINES)), ids=ENGINES)
@pytest.mark.parametrize("family", range(len(GENERATORS)), ids=GENERATORS)
def test_generates_what_the_rounded_model_generates(engine, family, tmp_path):
    """Whole and cut models take turns from engine to engine, and from family to family."""
    make = (small_model, cut_model)[(engine + family) % 2]
    isa, family = ENGINES[engine], GENERATORS[family]
    save_int8(make(family), tmp_path / "int8")
    logits, texts = said(load_int8(tmp_path / "int8", isa), family)
    expected, expected_texts = said_by_the_rounded_model(make, family)
    torch.testing.assert_close(logits, expected, rtol=1e-3, atol=2e-4)
    assert texts == expected_texts


FOUR_BITS = ("bart", "gpt2", "gated-t5", "llama")


@functools.cache
def said_with_four_bits(family):
    return said(dequantized(cut_model(family), rounded_weight=round_weight), family)


@pytest.mark.parametrize("engine", range(len(ENGINES)), ids=ENGINES)
def test_weights_of_four_bits(engine, tmp_path):
    """Each engine computes half of the families."""
    for family in FOUR_BITS[engine % 2 :: 2]:
        save_int8(cut_model(family), tmp_path / family, bits=4)
        logits, texts = said(load_int8(tmp_path / family, ENGINES[engine]), family)
        expected, expected_texts = said_with_four_bits(family)
        torch.testing.assert_close(logits, expected, rtol=1e-3, atol=2e-4)
        assert texts == expected_texts


@pytest.mark.parametrize("family", FOUR_BITS)
def test_weights_that_are_on_the_grid_stay_as_they_are(family, tmp_path):
    save_int8(cut_model(family), tmp_path / "int4", bits=4)
    model = load_int8(tmp_path / "int4")
    with weights_on_grid(cut_model(family), bits=4) as trained:
        assert trained.num_parameters() == model.num_parameters()
    save_int8(trained, tmp_path / "trained", bits=4)
    found, expected = (
        logits(one, small_batch(family)) for one in (load_int8(tmp_path / "trained"), model)
    )
    assert torch.equal(found, expected)


@pytest.mark.parametrize("family", FOUR_BITS)
def test_four_bits_take_less_room_than_eight(family, tmp_path):
    sizes = []
    for bits in (4, 8):
        save_int8(cut_model(family), tmp_path / f"int{bits}", bits=bits)
        sizes.append((tmp_path / f"int{bits}" / "int8.safetensors").stat().st_size)
    assert sizes[0] < sizes[1]
    with pytest.raises(InputError, match="bits: 3, expected 8 or 4"):
        save_int8(cut_model(family), tmp_path / "int3", bits=3)


@pytest.mark.parametrize("family", MORE)
def test_other_families(family, tmp_path):
    """Grouped attention, rotary and sinusoidal positions, and SiLU gates give the library's results."""
    save_int8(cut_model(family), tmp_path / "int8")
    logits, texts = said(load_int8(tmp_path / "int8"), family)
    expected, expected_texts = said_by_the_rounded_model(cut_model, family)
    torch.testing.assert_close(logits, expected, rtol=1e-3, atol=2e-4)
    assert texts == expected_texts


@pytest.mark.parametrize("family", ["bart", "t5"])
def test_embeddings_that_are_one_module(family, tmp_path):
    """After `resize_token_embeddings`, encoder and decoder share one table, a module with several names."""
    model = small_model(family)
    model.resize_token_embeddings(PIECES + 3)
    assert model.encoder.embed_tokens is model.decoder.embed_tokens if family == "t5" else True
    save_int8(model, tmp_path / "int8")
    batch = small_batch(family)
    with torch.inference_mode():
        found = load_int8(tmp_path / "int8")(**batch).logits
        expected = dequantized(model)(**batch).logits
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("family", GENERATORS)
def test_calibrated_scales_are_used(family, tmp_path):
    model, batch = small_model(family), small_batch(family)
    scales = calibrated_scales(model, lambda: model(**batch), "mean-of-maxima")
    with torch.inference_mode():
        states = model(**batch, output_hidden_states=True)
    last = (states.hidden_states if family == "gpt2" else states.decoder_hidden_states)[-1]
    if family == "t5":  # but T5 1.1 does not scale
        last = last * WIDTH**-0.5
    assert scales["lm_head"] == pytest.approx(127 / float(last.abs().max()), rel=1e-5)
    save_int8(model, tmp_path / "int8", scales=scales)
    found = load_int8(tmp_path / "int8")
    reference = dequantized(model, scales)
    with torch.inference_mode():
        difference = found(**batch).logits - reference(**batch).logits
    assert difference.abs().max() < 2e-4
    for wrong in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match=f"scale of lm_head is {wrong}, expected a positive"):
            save_int8(small_model(family), tmp_path / "other", scales={**scales, "lm_head": wrong})
    with pytest.raises(InputError, match="lm_head; calibrate"):
        del scales["lm_head"]
        save_int8(small_model(family), tmp_path / "other", scales=scales)


def test_another_process_generates_the_same_text(tmp_path):
    """Another process cuts and quantizes a model of each family, and generates text."""

    def make():
        texts = {}
        for family in GENERATORS:
            save_int8(cut_model(family), tmp_path / family)
            texts[family] = generated(load_int8(tmp_path / family), family)
        write_json(tmp_path / "texts.json", texts)

    fork(make).join()
    found = {family: generated(load_int8(tmp_path / family), family) for family in GENERATORS}
    assert found == read_json(tmp_path / "texts.json")


@pytest.mark.parametrize("family", GENERATORS)
def test_weights_are_bytes_on_disk_and_in_memory(family, tmp_path):
    model = cut_model(family)
    save_int8(model, tmp_path / "int8")
    stored = load_file(tmp_path / "int8/int8.safetensors")
    floats, matrices = {}, {}
    for name, p in model.named_parameters():
        bytewise = p.dim() == 2 and TABLE not in name
        (matrices if bytewise else floats)[id(p)] = p.numel()
    codes = {name for name in stored if name.endswith(".codes")}
    assert all(stored[name].dtype == torch.int8 for name in codes)
    assert sum(stored[name].numel() for name in codes) == sum(matrices.values())
    biases = sum(
        value.numel()
        for name, value in stored.items()
        if name not in codes and not name.endswith((".scale", "final_logits_bias", "kept_heads"))
    )
    assert biases == sum(floats.values())
    loaded = load_int8(tmp_path / "int8", "portable")
    for name, value in loaded.named_parameters():
        assert value.dim() < 2 or not value.numel() or TABLE in name
    save_int8(model, tmp_path / "again")
    for name in ("config.json", "int8.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "int8" / name).read_bytes()


def test_positions_begin_behind_those_that_stand_for_none():
    torch.manual_seed(1)
    codes, scale = torch.randint(-127, 128, (20, 16), dtype=torch.int8), torch.rand(20) + 1
    positions = Int8Positions(Int8Weight(codes, scale, "portable"), 2)
    found = positions(torch.zeros(2, 3), position_ids=torch.arange(5, 8))
    torch.testing.assert_close(found[0], codes[7:10] / scale[7:10, None])
    torch.testing.assert_close(positions(torch.zeros(2, 3), 5), found)


def test_a_model_on_the_grid_keeps_its_numbers(tmp_path):
    """After training with rounding, weights are on the grid: rounding them again changes nothing."""
    save_int8(small_model("gpt2"), tmp_path / "once")
    save_int8(dequantized(small_model("gpt2")), tmp_path / "twice")
    first, second = (load_file(tmp_path / n / "int8.safetensors") for n in ("once", "twice"))
    for name, value in first.items():
        if name.endswith(".codes"):
            assert torch.equal(value, second[name]), name


def test_what_is_refused(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="XLMRobertaForSequenceClassification generates no text"):
        save_int8(small_model("xlm-roberta"), tmp_path / "model")
    neo = GPTNeoXConfig(vocab_size=9, hidden_size=8, num_attention_heads=1, num_hidden_layers=1)
    with pytest.raises(InputError, match=r"GPTNeoXForCausalLM holds 0 models .* stored in int8"):
        save_int8(GPTNeoXForCausalLM(neo), tmp_path / "model")
    broken = small_model("bart")
    with torch.no_grad():
        broken.model.encoder.layers[0].fc1.weight[0, 0] = torch.nan
    with pytest.raises(InputError, match=r"encoder\.layers\.0\.fc1: .*NaN.*diverged"):
        save_int8(broken, tmp_path / "model")
    assert not (tmp_path / "model").exists()
    with pytest.raises(InputError, match="not a model folder"):
        load_int8(tmp_path / "model")
    save_model(tmp_path / "float32", small_model("bart"))
    with pytest.raises(InputError, match="its weights are of no known grid"):
        load_int8(tmp_path / "float32")
    save_int8(small_model("bart"), tmp_path / "int8")
    with pytest.raises(InputError, match="its weights are integers"):
        load_model(tmp_path / "int8")
    with (
        monkeypatch.context() as machine,
        pytest.raises(InputError, match="'vnni': this machine lacks it"),
    ):
        machine.setattr("weebill.kernels.extension.available", lambda: ["avx2"])
        load_int8(tmp_path / "int8", "vnni")
    path = tmp_path / "int8/int8.safetensors"
    tensors = load_file(path)
    for gone in ("lm_head.codes", "model.shared.codes", "model.encoder.layers.0.fc1.bias"):
        save_file({name: value for name, value in tensors.items() if name != gone}, path)
        if gone in tensors:
            with pytest.raises(InputError, match="damaged"):
                load_int8(tmp_path / "int8")
    save_file({**tensors, "other.codes": tensors["model.shared.codes"].clone()}, path)
    with pytest.raises(InputError, match=r"not expected: \['other.codes'\]"):
        load_int8(tmp_path / "int8")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match="damaged"):
        load_int8(tmp_path / "int8")
