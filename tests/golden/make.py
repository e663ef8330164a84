"""Make the golden fixtures: small files of every stored format, with the outputs of the version that wrote them.

`python -m tests.golden.make` packs these files into `golden.tar.xz` in this folder.  Version 0.1.0 made the committed
archive, under the project's former name.  Do not make it again: the tests compare later code with it.
"""

import io
import json
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import sentencepiece
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
)

from tests.golden.outputs import SYSTEMS, outputs
from tests.metric.small import REFERENCES, SOURCES, make_checkpoint, make_encoder
from tests.small_models import TEXT, make_network
from weebill.generation.int8 import save_int8
from weebill.metric.cache import VectorCache
from weebill.metric.folder import load_metric, save_metric
from weebill.metric.scorer import Scorer
from weebill.quantization.calibration import mean_of_maxima, record_ranges
from weebill.quantization.files import section
from weebill.quantization.modules import quantizable_linears, quantize_model
from weebill.runtime.exports.formats import convert
from weebill.runtime.shortlist import save_shortlist
from weebill.translation.model.folder import load_model, save_model
from weebill.translation.model.packed_folder import save_any_model
from weebill.translation.search import greedy_translations
from weebill_runtime.shortlist import Shortlist
from weebill_runtime.vocabulary import EOS, UNK, Vocabulary

ARCHIVE = Path(__file__).with_name("golden.tar.xz")


def coarse(module: torch.nn.Module) -> torch.nn.Module:
    """Round the module's weights to bfloat16, which halves the packed files."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(parameter.bfloat16().float())
    return module


def make_vocabulary(path: Path) -> Vocabulary:
    """Train a vocabulary without the NFKC table, which would take most of the archive."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT),
        model_writer=model,
        vocab_size=60,
        eos_id=EOS,
        unk_id=UNK,
        bos_id=-1,
        pad_id=-1,
        normalization_rule_name="identity",
        num_threads=1,
        minloglevel=2,
    )
    path.write_bytes(model.getvalue())
    return Vocabulary(path)


def make_student(base: Path) -> None:
    """Write student/{float32,int8,log4}, shortlist.safetensors and marian/, an export with that shortlist."""
    vocabulary = make_vocabulary(base / "vocab.spm")
    network = make_network(len(vocabulary), seed=21)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.dim() > 1 and "embedding" not in name:
                parameter.mul_(3)  # outputs repeat less
    coarse(network)
    save_model(base / "student/float32", network, vocabulary, {"seed": 21, "kind": "golden"})
    ranges = record_ranges(network, lambda: greedy_translations(network, vocabulary, TEXT))
    for grid, formula in (("int8", "mean-of-maxima"), ("log4", None)):
        model = load_model(base / "student/float32").network
        names = [name for name, _ in quantizable_linears(model)]
        scales = {name: mean_of_maxima(ranges[name]) or 1.0 for name in names} if formula else None
        quantize_model(model, grid, scales)
        save_any_model(
            base / f"student/{grid}", model, vocabulary, {"kind": grid}, section(grid, formula)
        )
    likely = np.random.default_rng(5).integers(2, len(vocabulary), (len(vocabulary), 1))
    shortlist = Shortlist(likely.astype(np.int32), np.arange(4, dtype=np.int32), vocabulary.sha256)
    save_shortlist(shortlist, base / "shortlist.safetensors")
    convert(load_model(base / "student/float32"), "marian", base / "marian", shortlist)
    (base / "vocab.spm").unlink()
    assert Vocabulary(base / "student/float32/vocab.spm").sha256 == vocabulary.sha256


def make_metric(base: Path) -> None:
    """Write metric/ and cache.sqlite, which has the vectors of all its sentences."""
    shape = {"hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 24}
    encoder = make_encoder(base / "encoder", **shape)
    tokenizer = json.loads((encoder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["normalizer"] = None  # no NFKC table either
    (encoder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    found = load_metric(make_checkpoint(base / "checkpoint", encoder, hidden_sizes=[8]))
    coarse(found.network)
    save_metric(base / "metric", found, {"kind": "golden"})
    cache = VectorCache(base / "cache.sqlite")
    Scorer(load_metric(base / "metric"), cache=cache).score(SYSTEMS, SOURCES, REFERENCES)
    cache.close()
    for name in ("encoder", "checkpoint"):
        for path in sorted((base / name).rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        (base / name).rmdir()


def make_generators(base: Path) -> None:
    """Write generator/{bart,gpt2} in int8."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    names = dict(zip(("bos_token", "pad_token", "eos_token", "unk_token"), special, strict=True))
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
    torch.manual_seed(5)
    size = {"vocab_size": len(fast), "init_std": 0.5}
    bart = BartConfig(
        d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24,
        max_position_embeddings=64, bos_token_id=0, pad_token_id=1, eos_token_id=2,
        decoder_start_token_id=2, forced_eos_token_id=2, **size,
    )  # fmt: skip
    save_int8(BartForConditionalGeneration(bart).eval(), base / "generator/bart", fast)
    gpt2 = GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=64, initializer_range=0.5,
                      bos_token_id=0, eos_token_id=2, pad_token_id=1, vocab_size=len(fast))  # fmt: skip
    save_int8(GPT2LMHeadModel(gpt2).eval(), base / "generator/gpt2", fast)


def main() -> int:
    """Make all files and their outputs; pack them in a fixed order with fixed times."""
    with TemporaryDirectory() as folder:
        base = Path(folder)
        make_student(base)
        make_metric(base)
        make_generators(base)
        names = [path for path in sorted(base.rglob("*")) if path.is_file()]
        text = json.dumps(outputs(base), indent=1, ensure_ascii=False, sort_keys=True)
        names.append(base / "outputs.json")
        names[-1].write_text(text + "\n", encoding="utf-8")
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:xz", preset=9) as archive:
            for path in names:
                member = archive.gettarinfo(path, path.relative_to(base).as_posix())
                member.mtime, member.uid, member.gid = 0, 0, 0
                member.uname, member.gname = "", ""
                with path.open("rb") as file:
                    archive.addfile(member, file)
        ARCHIVE.write_bytes(packed.getvalue())
    print(f"{ARCHIVE}: {len(packed.getvalue()):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
