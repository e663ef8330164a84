"""`weebill benchmark generation` with small models: the compared engines, and forced lengths."""

import time
from itertools import count

import pytest
import torch
from transformers import BartConfig, BartForConditionalGeneration, GPT2Config, GPT2LMHeadModel

from weebill.__main__ import main
from weebill.benchmarks import generation
from weebill.benchmarks.generation_libraries import NAMES as LIBRARIES
from weebill.errors import InputError
from weebill.evaluation.timing.processes import Worker


def small_bart():
    shape = dict.fromkeys(("encoder_layers", "decoder_layers"), 2)
    shape |= dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4)
    shape |= dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 40)
    config = BartConfig(
        vocab_size=60, d_model=32, max_position_embeddings=64, **shape, **generation.UNFORCED
    )
    return BartForConditionalGeneration(config)


def small_gpt2():
    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=60,
            n_embd=32,
            n_head=4,
            n_layer=2,
            n_positions=64,
            bos_token_id=0,
            eos_token_id=0,
        )
    )


@pytest.fixture
def small(monkeypatch):
    """Use small models in this process: starting other processes takes seconds."""
    monkeypatch.setattr(generation, "MODELS", {"bart-large": small_bart, "gpt2": small_gpt2})
    monkeypatch.setattr(generation, "forget_peak", lambda: None)
    peaks = count(100)  # in one process, the peak need not grow
    monkeypatch.setattr(generation, "memory", lambda peak=False: next(peaks))

    def call(worker, work, *arguments):
        if isinstance(work, str):
            return getattr(worker.kept, work)(*arguments)
        worker.kept = work(*arguments)
        return None

    monkeypatch.setattr(Worker, "__init__", lambda worker: None)
    monkeypatch.setattr(Worker, "call", call)
    monkeypatch.setattr(Worker, "__exit__", lambda worker, *_: None)


def test_every_claim_is_measured(small):
    rows = list(generation.run(2, ("bart-large", "gpt2"), batch=(3,), longest=12, new=4))
    speeds = [row for row in rows if row.unit != "MiB"]
    assert len(speeds) == 2 * (len(generation.CLAIMS) + 4) and len(rows) == len(speeds) + 2 * (
        8 + 2
    )
    shares = [row for row in speeds if row.unit == "of all"]
    assert [row.ours for row in shares[::2]] == [1, 1]  # tokens like those of `generate`
    assert all(row.ours > 0 and row.rounds == 2 for row in speeds if row not in shares)
    papers = [row.paper for row in speeds]
    bart = [59.25 / 59.3, None, None, None, 59.25 / 59.2, None, 59.25 / 43.75]
    gpt2 = [None, None, None, None, 43.18 / 42.1, None, 43.18 / 33.92]
    assert papers == pytest.approx([*bart, *[None] * 4, *gpt2, *[None] * 4])


@pytest.mark.parametrize("name", ["bart-large", "gpt2"])
def test_all_engines_write_what_is_asked(small, name, tmp_path):
    generation.make_folder(name, True, True, tmp_path / "half")
    generation.make_folder(name, False, False, tmp_path / "whole")
    texts = {}
    for variant, products in (
        (generation.FLOAT32, 1),
        (generation.INT8, 0),
        (generation.INT8_LIBRARY, 0),
        (generation.INT8_CTRANSLATE2, 0),
        (generation.PIPELINE, 0),
    ):
        folder = tmp_path / variant.folder.split("-")[0]
        engine = generation.Engine(folder, variant, generation.PRODUCTS[products], (3, 12, 5))
        assert sorted(engine.mask.sum(1).tolist()) == [6, 9, 12]
        assert bool(engine.mask[0, 0]) == (name == "bart-large")  # padding is at the end
        texts[variant] = engine.written(5)
        assert [len(text) for text in texts[variant]] == [5] * 3
        assert engine.generate() > 0
        assert engine.peaks()[0] > engine.peaks()[1]
    assert texts[generation.INT8] == texts[generation.INT8_LIBRARY]
    assert texts[generation.INT8] == texts[generation.INT8_CTRANSLATE2]  # both suppress ends
    config = engine.model.config
    assert getattr(config, "decoder_layers", config.num_hidden_layers) == 1


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["bart-large", "gpt2"])
def test_other_libraries_write_what_we_do(small, name, library, tmp_path):
    if not generation.PYTHONS[library].exists():
        pytest.skip(f"{library} is not here; `make opponents` makes its environment")
    generation.make_folder(name, False, False, tmp_path / "whole")
    theirs = generation.Variant(precision="int8", engine=library)
    ours, other = (
        generation.Engine(tmp_path / "whole", variant, generation.PRODUCTS[0], (3, 12, 5))
        for variant in (generation.INT8, theirs)
    )
    assert ours.written(5) == other.written(5)
    # The other process's time, with seconds for imports alone, is counted in ticks of 10 ms.
    assert other._clock() > time.process_time() + 1


def test_a_library_that_is_not_there_is_told_with_its_remedy(small, tmp_path, monkeypatch):
    monkeypatch.setattr(generation, "PYTHONS", {"openvino": tmp_path / "python"})
    generation.make_folder("gpt2", False, False, tmp_path / "whole")
    theirs = generation.Variant(precision="int8", engine="openvino")
    with pytest.raises(InputError, match=r"envs/install.sh openvino .venvs/openvino"):
        generation.Engine(tmp_path / "whole", theirs, generation.PRODUCTS[0], (3, 12, 5))


def test_the_published_shapes():
    with torch.device("meta"):
        sizes = [sum(p.numel() for p in make().parameters()) for make in generation.MODELS.values()]
    assert sizes == [406_291_456, 139_420_416, 124_439_808]


def test_what_does_not_exist_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["benchmark", "generation", "--models", "gpt3"])
    assert "found 'gpt3', expected one of bart-large, bart-base, gpt2" in capsys.readouterr().err
