"""A model with a pruned vocabulary keeps pieces' names, generates the same text, and can still spell any text."""

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    MarianConfig,
    MarianMTModel,
    PreTrainedTokenizerFast,
)

from weebill.errors import InputError
from weebill.generation.int8 import load_int8, save_int8
from weebill.generation.train_from_scratch import BART_TOKENS, GPT2_TOKENS, train_tokenizer
from weebill.generation.vocabulary import prune_vocabulary
from weebill.hugging_face.folder import load_model, save_model

BROAD = [
    f"{who} {what} the {where} {n} times, and then {who.lower()} slept."
    for who in ("Weebills", "Robins", "Wrens", "Several sparrows")
    for what in ("circled", "crossed", "surrounded", "recrossed")
    for where in ("river", "rivers", "mountain", "fountain", "orchard")
    for n in range(6)
]
NARROW = [text for text in BROAD if "Robins" in text or "Wrens" in text]
FAMILIES = ("bart", "gpt2")


def tokenizer_of(family):
    special = BART_TOKENS if family == "bart" else GPT2_TOKENS
    return train_tokenizer(BROAD, 500, special, 64)


def model_of(family, tokenizer, surplus=0):
    torch.manual_seed(2)
    shared = {
        "vocab_size": len(tokenizer) + surplus,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    if family == "gpt2":
        model = GPT2LMHeadModel(
            GPT2Config(n_embd=32, n_head=4, n_layer=2, n_positions=64, **shared)
        )
    else:
        model = BartForConditionalGeneration(
            BartConfig(
                d_model=32,
                encoder_layers=2,
                decoder_layers=2,
                encoder_attention_heads=4,
                decoder_attention_heads=4,
                encoder_ffn_dim=48,
                decoder_ffn_dim=48,
                max_position_embeddings=64,
                pad_token_id=tokenizer.pad_token_id,
                decoder_start_token_id=tokenizer.eos_token_id,
                forced_eos_token_id=None,
                **shared,
            )
        )
        model.final_logits_bias = torch.randn_like(model.final_logits_bias)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model.eval()


def texts_of(model, tokenizer, texts, **options):
    """Return the text that is generated for each input alone."""
    found = []
    for text in texts:
        given = tokenizer(text, return_tensors="pt")
        ids, mask = given["input_ids"], given["attention_mask"]
        pad = {} if tokenizer.pad_token_id is not None else {"pad_token_id": 0}
        (tokens,) = model.generate(
            ids, attention_mask=mask, max_new_tokens=12, do_sample=False, **pad, **options
        )
        found.append(tokenizer.decode(tokens))
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_text_is_generated(family, tmp_path):
    """The text stays the same in float32 and int8 if all generated pieces are kept."""
    tokenizer = tokenizer_of(family)
    before = model_of(family, tokenizer, surplus=3)
    sources = NARROW[:2]
    texts = texts_of(before, tokenizer, sources)
    beams = texts_of(before, tokenizer, sources, num_beams=2)
    save_int8(before, tmp_path / "before")

    after = model_of(family, tokenizer, surplus=3)
    pieces, kept = prune_vocabulary(after, tokenizer, [*NARROW, *texts, *beams])
    assert len(kept) == len(pieces) == after.config.vocab_size < len(tokenizer)
    assert texts_of(after, pieces, sources) == texts
    save_int8(after, tmp_path / "after", pieces)
    whole, pruned = (load_int8(tmp_path / name) for name in ("before", "after"))
    given = tokenizer(sources[0], return_tensors="pt")
    fewer = pieces(sources[0], return_tensors="pt")
    with torch.inference_mode():
        if family == "bart":
            start = tokenizer.eos_token_id
            given["decoder_input_ids"] = torch.tensor([[start]])
            fewer["decoder_input_ids"] = torch.tensor([[int((kept == start).nonzero())]])
        for one, other in ((before, after), (whole, pruned)):
            torch.testing.assert_close(one(**given).logits[..., kept], other(**fewer).logits)


@pytest.mark.parametrize("family", FAMILIES)
def test_pieces_are_those_of_the_whole_vocabulary(family, tmp_path):
    tokenizer = tokenizer_of(family)
    pieces, kept = prune_vocabulary(model_of(family, tokenizer), tokenizer, NARROW)
    pieces.save_pretrained(tmp_path)
    again = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    names = tokenizer.convert_ids_to_tokens(kept.tolist())
    for text in BROAD:
        old = tokenizer(text)["input_ids"]
        for new in (pieces(text)["input_ids"], again(text)["input_ids"]):
            if set(old) <= set(kept.tolist()):
                assert kept[new].tolist() == old
            assert pieces.decode(new, skip_special_tokens=True) == text
    assert pieces.convert_ids_to_tokens(list(range(len(pieces)))) == names
    for text in ("naïve Ωmega 🐦\tß", "completely other words"):
        assert pieces.decode(pieces(text)["input_ids"], skip_special_tokens=True) == text
    assert any(not set(tokenizer(text)["input_ids"]) <= set(kept.tolist()) for text in BROAD)


def test_numbers_that_the_model_speaks_of_follow_their_pieces():
    """BART's mask is the last piece, after the removed pieces, so its number changes."""
    tokenizer = tokenizer_of("bart")
    backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    backend.add_special_tokens(["<late>"])
    late = backend.token_to_id("<late>")
    backend.post_processor = processors.RobertaProcessing(("<late>", late), ("<s>", 0))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, **{**BART_TOKENS, "eos_token": "<late>"}
    )
    model = model_of("bart", tokenizer)
    model.generation_config.bad_words_ids = [[late], [0, late]]
    row = model.model.shared.weight[late].clone()
    pieces, kept = prune_vocabulary(model, tokenizer, NARROW)
    new = pieces.eos_token_id
    assert new == len(kept) - 1 < late
    assert model.config.eos_token_id == model.config.decoder_start_token_id == new
    assert model.generation_config.bad_words_ids == [[new], [0, new]]
    assert pieces("Robins")["input_ids"][-1] == new
    assert torch.equal(model.lm_head.weight[new], row)
    assert model.lm_head.weight is model.model.shared.weight
    assert model.model.decoder.embed_tokens.weight is model.model.shared.weight


def untied(kind, tokenizer):
    """Return a model whose encoder, decoder and output may have separate tables."""
    sides = {
        f"{side}_{key}": value
        for side in ("encoder", "decoder")
        for key, value in (("layers", 1), ("attention_heads", 4), ("ffn_dim", 48))
    }
    shared = {"vocab_size": len(tokenizer), "d_model": 32, "max_position_embeddings": 64, **sides}
    torch.manual_seed(5)
    if kind == "bart":
        model = BartForConditionalGeneration(BartConfig(**shared, tie_word_embeddings=False))
    else:
        own = {"share_encoder_decoder_embeddings": False} if kind == "marian-own" else {}
        special = {"pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
        model = MarianMTModel(MarianConfig(**shared, **own, **special))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter) * 0.3)
    return model.eval()


@pytest.mark.parametrize("kind", ["bart", "marian-own", "marian"])
def test_all_tables_of_pieces_are_cut(kind, tmp_path):
    tokenizer = tokenizer_of("bart")
    before, after = untied(kind, tokenizer), untied(kind, tokenizer)
    pieces, kept = prune_vocabulary(after, tokenizer, NARROW)
    old, new = (one(NARROW[:1], return_tensors="pt")["input_ids"] for one in (tokenizer, pieces))
    expected = before(input_ids=old, decoder_input_ids=old).logits[..., kept]
    save_model(tmp_path / "model", after, pieces)
    for model in (after, load_model(tmp_path / "model")):
        logits = model(input_ids=new, decoder_input_ids=new).logits
        torch.testing.assert_close(logits, expected)
        assert getattr(model.config, "decoder_vocab_size", len(kept)) == len(kept)
    save_int8(before, tmp_path / "before")
    save_int8(after, tmp_path / "after", pieces)
    before, after = (load_int8(tmp_path / name) for name in ("before", "after"))
    expected = before(input_ids=old, decoder_input_ids=old).logits[..., kept]
    torch.testing.assert_close(after(input_ids=new, decoder_input_ids=new).logits, expected)


def test_tables_of_different_vocabularies_are_refused():
    tokenizer = tokenizer_of("bart")
    model = untied("marian-own", tokenizer)
    model.resize_decoder_token_embeddings(len(tokenizer) + 5)
    with pytest.raises(InputError, match=r"tables of \d+ and \d+ pieces"):
        prune_vocabulary(model, tokenizer, NARROW)


def test_pieces_that_parts_of_the_tokenizer_name():
    """The template's piece between two texts is kept; padding with a removed piece is dropped."""
    tokenizer = tokenizer_of("bart")
    between = tokenizer.convert_ids_to_tokens(last := len(tokenizer) - 1)
    backend = tokenizer.backend_tokenizer
    backend.post_processor = processors.TemplateProcessing(
        "<s> $A </s>", f"<s> $A {between} $B </s>", [("<s>", 0), ("</s>", 2), (between, last)]
    )
    backend.enable_padding(pad_id=last - 1, pad_token="x")
    model = model_of("bart", tokenizer)
    pieces, kept = prune_vocabulary(model, tokenizer, ["a"])
    old, new = (one("a", "a")["input_ids"] for one in (tokenizer, pieces))
    assert last in old and kept[new].tolist() == old
    assert pieces.backend_tokenizer.padding is None
    together = pieces(["a", "a a"], padding=True)["input_ids"]
    assert together[0][-1] == pieces.pad_token_id


def test_further_special_tokens_are_carried(tmp_path):
    tokenizer = tokenizer_of("bart")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<e1>", "<e2>"]})
    pieces, _ = prune_vocabulary(model_of("bart", tokenizer), tokenizer, NARROW)
    pieces.save_pretrained(tmp_path)
    for one in (pieces, PreTrainedTokenizerFast.from_pretrained(tmp_path)):
        assert one.extra_special_tokens == ["<e1>", "<e2>"]
        assert one.decode(one("<e1> a")["input_ids"], skip_special_tokens=True).strip() == "a"


def test_other_tokenizers_are_refused():
    words = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[UNK]")
    model = model_of("gpt2", tokenizer_of("gpt2"))
    with pytest.raises(InputError, match=r"no tokenizer\.json of unigram or plain BPE"):
        prune_vocabulary(model, tokenizer, ["a"])
    letters = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    letters.pre_tokenizer, letters.normalizer = pre_tokenizers.Whitespace(), normalizers.NFC()
    trainer = trainers.BpeTrainer(vocab_size=80, show_progress=False, end_of_word_suffix="</w>")
    letters.train_from_iterator(BROAD, trainer)
    with pytest.raises(InputError, match=r"no tokenizer\.json of unigram or plain BPE"):
        prune_vocabulary(model, PreTrainedTokenizerFast(tokenizer_object=letters), ["a"])


def short_of_a_mask(family="bart", rows=-1):
    """Return a tokenizer whose last piece is <mask>, like bart-large-cnn's, and a model without a row for it."""
    special = {**(BART_TOKENS if family == "bart" else GPT2_TOKENS)}
    special.pop("mask_token", None)
    trained = train_tokenizer(BROAD, 500, special, 64)
    trained.add_special_tokens({"mask_token": "<mask>"})
    return model_of(family, trained, rows), trained


@pytest.mark.parametrize("family", FAMILIES)
def test_pieces_without_a_row_are_dropped(family, tmp_path):
    """A piece like bart-large-cnn's <mask> is dropped; the logits of all other pieces stay as they were."""
    before, tokenizer = short_of_a_mask(family)
    after, _ = short_of_a_mask(family)
    after.generation_config.bad_words_ids = [[len(tokenizer) - 1], [300, len(tokenizer) - 1]]
    pieces, kept = prune_vocabulary(after, tokenizer, BROAD)
    assert len(pieces) == len(kept) == after.get_input_embeddings().weight.shape[0]
    assert tokenizer.mask_token_id not in kept and pieces.mask_token is None
    assert after.generation_config.bad_words_ids is None
    save_int8(after, tmp_path / "after", pieces)
    again = PreTrainedTokenizerFast.from_pretrained(tmp_path / "after")
    for text in BROAD[:5]:
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        fewer = torch.tensor([again(text)["input_ids"]])
        assert torch.equal(kept[fewer], ids)
        logits = before(ids).logits[..., kept]
        torch.testing.assert_close(after(fewer).logits, logits)
    assert again.decode(again("a <mask> b")["input_ids"], skip_special_tokens=True) == "a <mask> b"


def test_a_piece_without_a_row_that_is_needed_is_named_and_nothing_is_cut():
    model, tokenizer = short_of_a_mask()
    rows = model.config.vocab_size
    with pytest.raises(InputError, match=rf"text 2: has '<mask>', piece {rows} .* take it out"):
        prune_vocabulary(model, tokenizer, ["Robins", "a <mask> b"])
    assert model.get_input_embeddings().weight.shape[0] == rows
    model, tokenizer = short_of_a_mask(rows=-2)  # the text's last piece has no row either
    last = tokenizer.convert_ids_to_tokens(len(tokenizer) - 2)
    with pytest.raises(InputError, match="text 1: has"):
        prune_vocabulary(model, tokenizer, [tokenizer.convert_tokens_to_string([last])])
    tokenizer.eos_token = "<mask>"
    with pytest.raises(InputError, match=r"its eos_token is piece \d+ of the tokenizer, '<mask>'"):
        prune_vocabulary(model, tokenizer, BROAD)
    model, tokenizer = short_of_a_mask()
    model.generation_config.decoder_start_token_id = tokenizer.mask_token_id
    with pytest.raises(InputError, match="the model's decoder_start_token_id is piece"):
        prune_vocabulary(model, tokenizer, BROAD)


def test_a_string_or_a_path_is_no_list_of_texts(tmp_path):
    model, tokenizer = model_of("gpt2", tokenizer_of("gpt2")), tokenizer_of("gpt2")
    (tmp_path / "corpus.txt").write_text("Robins\n")
    for wrong in ("corpus.txt", b"corpus.txt", tmp_path / "corpus.txt"):
        with pytest.raises(
            InputError, match=r"texts: found .*corpus\.txt.*expected a list of texts"
        ):
            prune_vocabulary(model, tokenizer, wrong)
    with pytest.raises(InputError, match="text 2: found None, expected a string"):
        prune_vocabulary(model, tokenizer, ["Robins", None])
    assert model.config.vocab_size == len(tokenizer)
    with (tmp_path / "corpus.txt").open() as lines:
        assert len(prune_vocabulary(model, tokenizer, lines)[0]) == model.config.vocab_size
