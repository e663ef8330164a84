"""The steps from folder to folder: their results, their order, and refused input."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from transformers import T5Config, T5ForConditionalGeneration

from tests.generation.small import FAST, place, write_articles
from tests.generation.small import STEPS as FAST_STEPS
from tests.hugging_face.small import DECODERS, MORE
from weebill.errors import InputError
from weebill.files import read_json
from weebill.generation import training
from weebill.generation.data import TextData, import_data, read_part
from weebill.generation.encoding import Example
from weebill.generation.models import load_generator, model_hash, save_generator, summarize
from weebill.generation.perplexity import surprise
from weebill.generation.settings import SearchSettings, TrainingSettings
from weebill.generation.step import Place
from weebill.generation.steps import (
    FineTune,
    Movement,
    PostTraining,
    PruneVocabulary,
    objective_of,
    step_of,
)
from weebill.pruning.movement_settings import MovementShares
from weebill.quantization.grids import grid_named

SEARCH = SearchSettings(beam=2, max_tokens=8)
QUICK = replace(FAST, updates=2, accumulate=1, validate_every=2)
STEPS = {name: replace(step, training=QUICK) for name, step in FAST_STEPS.items()}


@pytest.mark.parametrize(
    ("architecture", "order"),
    [
        ("bart", ("fine-tune", "distil", "movement", "quantization-aware")),
        ("gpt2", ("movement", "distil", "quantization-aware")),
    ],
)
def test_steps_follow_each_other_in_any_order(made, tmp_path, architecture, order):
    where = place(made, tmp_path, architecture)
    for name in order:
        here = place(made, where.output.parent / name, architecture, where.model)
        before = load_generator(here.model)
        STEPS[name].run(here)
        after = load_generator(here.output)
        assert not here.work.exists()
        lineage = read_json(here.output / "config.json")["lineage"]
        assert lineage["parent"] == model_hash(here.model)
        assert lineage["course"]["updates"] == QUICK.updates
        smaller = after.model.num_parameters() < before.model.num_parameters()
        assert smaller == (name in ("distil", "movement"))
        where = replace(here, model=here.output)
    if architecture == "bart":
        last = load_generator(where.model).model
        assert last.config.encoder_layers == last.config.decoder_layers == 2


def save_t5(made, folder, **shape):
    """Save a small random T5 with BART's tokenizer."""
    tokenizer = load_generator(made["bart"][0]).tokenizer
    torch.manual_seed(1)
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=16,
        d_kv=4,
        d_ff=24,
        num_layers=3,
        num_heads=4,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,
        **shape,
    )
    save_generator(folder, T5ForConditionalGeneration(config), tokenizer, {})


def test_t5_goes_through_every_step(made, tmp_path):
    save_t5(made, tmp_path / "t5")
    where = place(made, tmp_path, model=tmp_path / "t5")
    for name in (*STEPS, "post-training"):
        where = place(made, tmp_path / name, model=where.model)
        ({**STEPS, "post-training": PostTraining()})[name].run(where)
        where = replace(where, model=where.output)
    shapes = read_json(where.output / "config.json")["layer_shapes"]
    assert len(shapes["heads"]) == 2 * 3 and set(shapes["heads"].values()) == {3}
    articles = [row["article"] for row in read_part(where.data, "test")]
    first, second = (
        summarize(load_generator(where.output), articles, SEARCH, 40) for _ in range(2)
    )
    assert first == second and len(first) == len(articles)


SLOW = [one for one in MORE if one != "llama"]


@pytest.mark.parametrize(
    "family",
    ["llama", *(pytest.param(one, marks=pytest.mark.workflows) for one in SLOW)],
)
def test_other_families_go_through_every_step(made, tmp_path, monkeypatch, family):
    kind = "gpt2" if family in DECODERS else "bart"
    tokenizer = load_generator(made[kind][0]).tokenizer
    monkeypatch.setattr("tests.hugging_face.small.PIECES", len(tokenizer))
    save_generator(tmp_path / "model", MORE[family](), tokenizer, {})
    where = place(made, tmp_path, kind, tmp_path / "model")
    where = replace(where, max_source=16, max_target=8)
    others = {"prune-vocabulary": PruneVocabulary(), "post-training": PostTraining()}
    for name, step in {**STEPS, **others}.items():
        where = replace(where, output=tmp_path / name / "model")
        where.output.parent.mkdir()
        step.run(where)
        where = replace(where, model=where.output)
    shapes = read_json(where.output / "config.json")["layer_shapes"]
    assert set(shapes["heads"].values()) == {3} and set(shapes["neurons"].values()) == {8}
    generator = load_generator(where.output)
    rows = read_part(where.data, "test")[:3]
    if kind == "bart":
        assert len(summarize(generator, [row["article"] for row in rows], SEARCH, 16)) == len(rows)
    else:
        assert surprise(generator, [row["text"] for row in rows], 16, 8).perplexity > 1


def test_pruning_tells_what_went_and_when(made, tmp_path):
    where = place(made, tmp_path)
    FAST_STEPS["movement"].run(where)
    record = read_json(where.output.with_name("pruning.json"))
    assert {row["update"]: row["heads"] for row in record["schedule"]}[6] == 0.25  # ⌊0.3 · 4⌋ of 4
    assert record["schedule"][-1]["neurons"] == pytest.approx(14 / 24)  # ⌊0.6 · 24⌋
    shapes = read_json(where.output / "config.json")["layer_shapes"]
    assert set(shapes["heads"].values()) == {3} and set(shapes["neurons"].values()) == {10}
    for kind, blocks in record["survivors"].items():
        for block, left in blocks.items():
            scores = record["scores"][kind][block]
            gone = set(range(len(scores))) - set(left)
            assert len(left) == shapes[kind][block]
            # The scores before the last updates decide; each update changes a score by about 0.01.
            assert max(scores[n] for n in gone) <= min(scores[n] for n in left) + 0.02


@pytest.fixture(scope="module")
def quantization_aware(made, tmp_path_factory):
    """Return the places of a quantization-aware training of each architecture."""
    places = {name: place(made, tmp_path_factory.mktemp("aware") / name, name) for name in made}
    for where in places.values():
        STEPS["quantization-aware"].run(where)
    return places


def test_quantization_aware_weights_lie_on_the_grid(quantization_aware):
    for where in quantization_aware.values():
        before, after = (load_generator(path).model for path in (where.model, where.output))
        grid = grid_named("int8_rowwise")
        for name, module in after.named_modules():
            if getattr(module, "weight", None) is None or module.weight.dim() < 2:
                continue
            rows = module.weight.T if type(module).__name__ == "Conv1D" else module.weight
            assert torch.allclose(grid.round(rows), rows, rtol=1e-6, atol=0), name
            assert not torch.equal(before.get_submodule(name).weight, module.weight)


def test_what_does_not_fit_is_refused_before_training(made, tmp_path):
    bart, text = made["bart"][0], made["gpt2"][1]
    with pytest.raises(
        InputError, match="is an encoder-decoder; language-modelling needs a decoder"
    ):
        FineTune(training=FAST).run(
            Place(bart, text, tmp_path / "model", max_source=40, max_target=20)
        )
    with pytest.raises(
        InputError, match="is a decoder alone; summarization needs an encoder-decoder"
    ):
        FineTune(training=FAST).run(replace(place(made, tmp_path), model=made["gpt2"][0]))
    for lengths, message in (
        ({"max_source": 41}, "max_source: 41 tokens, but .* has 40 positions; lower it"),
        ({"max_target": 64}, "max_target: 64 tokens"),
        ({"measured": {"search.max_tokens": 41}}, "search.max_tokens: 41 tokens, but .* has 40"),
    ):
        with pytest.raises(InputError, match=message):
            FineTune(training=FAST).run(replace(place(made, tmp_path), **lengths))
    with pytest.raises(InputError, match="not a model folder"):
        FineTune(training=FAST).run(replace(place(made, tmp_path), model=tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == []
    save_t5(made, tmp_path / "t5", num_decoder_layers=4)
    with pytest.raises(InputError, match="4 layers above an encoder of 3"):
        FineTune(training=FAST).run(place(made, tmp_path, model=tmp_path / "t5"))
    assert [path.name for path in tmp_path.iterdir()] == ["t5"]


def test_steps_of_a_configuration():
    step = step_of("movement", heads=0.5, training={"updates": 3})
    assert step == Movement(heads=0.5, training=TrainingSettings(updates=3))
    shares = asdict(MovementShares(heads=0.5, blocks="*"))
    assert step.record() == {"movement": shares, "loss": None, "training": asdict(step.training)}


@pytest.mark.parametrize("architecture", ["bart", "gpt2"])
@pytest.mark.parametrize("activations", ["each-token", "mean-of-maxima"])
def test_int8_is_what_quantization_aware_training_saw(
    made, quantization_aware, tmp_path, architecture, activations
):
    trained = quantization_aware[architecture]
    where = place(made, tmp_path / "int8", architecture, trained.output)
    PostTraining(activations=activations, examples=5).run(where)
    assert not where.work.exists()
    before, after = (load_generator(path) for path in (trained.output, where.output))
    files = (trained.output / "model.safetensors", where.output / "int8.safetensors")
    size = [file.stat().st_size for file in files]
    assert size[1] < 0.6 * size[0]  # small models have relatively large biases and headers
    encoder = where.encoder(before)
    batch = encoder.batch(encoder.examples(read_part(where.data, "test"))[:4])
    with torch.inference_mode():
        one, other = (training.logits_of(each.model, batch).logits for each in (before, after))
    spoken = batch["labels"] >= 0
    assert (one - other)[spoken].abs().mean() < 0.05 * one[spoken].std()
    lineage = read_json(where.output / "config.json")["lineage"]
    assert lineage["parent"] == model_hash(trained.output)
    with pytest.raises(InputError, match="its weights are int8, which no step can go on from"):
        FineTune(training=FAST).run(place(made, tmp_path / "further", architecture, where.output))


def test_pruning_by_what_the_model_said_before(made, tmp_path):
    where = place(made, tmp_path)
    generator = where.generator()
    batch = where.encoder(generator).batch([Example([0, 7, 8, 9, 2], [0, 8, 9, 2])] * 2)
    step = Movement(loss={}, training=QUICK)
    loss, labels = (
        objective_of(one.loss, generator.model)(generator.model, batch)
        for one in (step, Movement(training=QUICK))
    )
    assert loss.item() == pytest.approx(0.1 * labels.item(), rel=1e-5)  # student = teacher
    step.run(where)
    entry = read_json(where.output / "config.json")["lineage"]
    assert entry["loss"] == {} and read_json(where.output.with_name("pruning.json"))["survivors"]


@pytest.mark.parametrize("loss", [None, {}])
def test_a_control_is_the_pruning_without_its_removals(made, tmp_path, loss):
    """Pruning one neuron of 24 after the last update gives the control's weights, except in this block."""
    block = "decoder.2.feed_forward"
    shares = {"heads": 0, "neurons": 1.0001 / 24, "reached_at": 1.0, "blocks": block}
    steps = (
        Movement(**shares, loss=loss, training=replace(FAST, accumulate=1)),
        FineTune(loss=loss, training=replace(FAST, accumulate=1, keep="last")),
    )
    places = [place(made, tmp_path / name) for name in ("pruned", "control")]
    for step, where in zip(steps, places, strict=True):
        step.run(where)
    record = read_json(places[0].output.with_name("pruning.json"))
    assert sorted(map(len, record["survivors"]["neurons"].values())) == [23, *[24] * 5]
    one, other = (load_generator(where.output).model.state_dict() for where in places)
    before = load_generator(places[0].model).model.state_dict()
    alike = [key for key in one if one[key].shape == other[key].shape]
    assert len(one) - len(alike) == 3  # weights and biases of the neurons
    apart, moved = (
        sum(float((one[key] - end[key]).square().sum()) for key in alike) ** 0.5
        for end in (other, before)
    )
    assert moved > 0.1 and apart < 0.005 * moved


def test_a_pruned_vocabulary_keeps_what_the_text_uses(made, tmp_path):
    """GPT-2's text first has ten birds, then two; logits of kept pieces stay, and the pruned model can be trained."""
    lines = [f"The wren slept {n} times. The owl sang {n} times.\n\n" for n in range(700)]
    (tmp_path / "text.txt").write_text("".join(lines))
    data = tmp_path / "data"
    path = str(tmp_path / "text.txt")
    import_data(
        TextData(task="language-modelling", train=[{"path": path}], validation_share=0.2), data
    )
    where = replace(place(made, tmp_path / "pruned", "gpt2"), data=data)
    PruneVocabulary().run(where)
    before, after = (load_generator(folder) for folder in (where.model, where.output))
    pieces = [len(one.tokenizer) for one in (before, after)]
    assert 256 < pieces[1] < pieces[0]
    lineage = read_json(where.output / "config.json")["lineage"]
    assert lineage["pieces"] == pieces and lineage["parent"] == model_hash(where.model)
    text = "The wren slept 12 times. The owl sang 30 times."
    rows = [one.tokenizer(text, return_tensors="pt") for one in (before, after)]
    names = [
        one.tokenizer.convert_ids_to_tokens(row["input_ids"][0].tolist())
        for one, row in zip((before, after), rows, strict=True)
    ]
    assert names[0] == names[1]
    with torch.inference_mode():
        said = [one.model(**row).logits for one, row in zip((before, after), rows, strict=True)]
    kept = before.tokenizer.convert_tokens_to_ids(
        after.tokenizer.convert_ids_to_tokens(list(range(pieces[1])))
    )
    assert torch.allclose(said[0][..., kept], said[1], atol=1e-5)
    assert "ledz" in after.tokenizer.decode(after.tokenizer("ledz")["input_ids"])
    further = place(made, tmp_path / "further", "gpt2", where.output)
    FineTune(training=QUICK).run(further)
    assert len(load_generator(further.output).tokenizer) == pieces[1]


def without_mask_row(made, folder: Path, last: str = "mask_token") -> Path:
    """Return the model with a new last piece that has no row and is the special token `last`."""
    generator = load_generator(made["bart"][0])
    generator.tokenizer.add_special_tokens({last: "<late>"})
    made_of = {"kind": "test"}
    save_generator(folder, generator.model, generator.tokenizer, made_of)
    return folder


def test_a_piece_without_a_row_is_dropped_where_no_text_has_it(made, tmp_path):
    """Steps from fine-tuning to int8 drop a piece without a row, such as bart-large-cnn's <mask>."""
    first = place(made, tmp_path / "a", model=without_mask_row(made, tmp_path / "short"))
    FineTune(training=QUICK).run(replace(first, vocabulary_pruned=True))
    second = place(made, tmp_path / "b", model=first.output)
    PruneVocabulary().run(second)
    pruned = load_generator(second.output)
    assert pruned.model.config.vocab_size == len(pruned.tokenizer)
    assert pruned.tokenizer.convert_tokens_to_ids("<late>") != pruned.model.config.vocab_size
    third = place(made, tmp_path / "c", model=second.output)
    PostTraining().run(third)
    article = read_part(third.data, "test")[0]["article"]
    search = SearchSettings(beam=1, max_tokens=6)
    assert len(summarize(load_generator(third.output), [article], search, 40)) == 1


def test_a_vocabulary_that_cannot_be_pruned_is_told_before_the_training(made, tmp_path):
    short = without_mask_row(made, tmp_path / "short", "eos_token")
    where = replace(place(made, tmp_path / "a", model=short), vocabulary_pruned=True)
    with pytest.raises(InputError, match=rf"{short}: its eos_token is piece .* '<late>'"):
        FineTune(training=QUICK).run(where)
    assert not where.work.exists() and not where.output.exists()


def test_text_with_a_piece_without_a_row_is_told_before_the_training(made, tmp_path):
    short = without_mask_row(made, tmp_path / "short")
    path = write_articles(tmp_path / "articles.jsonl", 20)
    text = path.read_text(encoding="utf-8").replace('"summary": "', '"summary": "a <late> ')
    path.write_text(text, encoding="utf-8")
    settings = TextData(task="summarization", train=[{"path": str(path)}], validation_share=0.2)
    import_data(settings, tmp_path / "data")
    where = replace(place(made, tmp_path / "a", model=short), data=tmp_path / "data")
    for step in (FineTune(training=QUICK), PruneVocabulary()):
        with pytest.raises(InputError, match=rf"{short}, .*data: text \d: has '<late>', piece"):
            step.run(where)
        assert not where.work.exists() and not where.output.exists()
