"""Vocabularies other than byte-level BPE: unigram, letters with bytes; chat templates and target pieces."""

import json

import pytest
import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    MBartTokenizer,
    NllbTokenizer,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from tests.generation.test_vocabulary import BROAD, NARROW, model_of, tokenizer_of
from weebill.generation.int8 import load_int8, save_int8
from weebill.generation.vocabulary import prune_vocabulary

CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
)
TURNS = [{"role": "user", "content": "Robins"}, {"role": "assistant", "content": "Wrens"}]


def unigram():
    """Train a tokenizer like T5's: </s> after each text, no bytes, and pieces that occur in no text."""
    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer, trained.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=300,
        special_tokens=["<pad>", "</s>", "<unk>"],
        unk_token="<unk>",
        show_progress=False,
        initial_alphabet=[*"éöß"],
    )
    trained.train_from_iterator(BROAD, trainer)
    trained.add_special_tokens(["<extra_id_1>", "<extra_id_0>"])
    trained.post_processor = processors.TemplateProcessing("$A </s>", "$A $B </s>", [("</s>", 1)])
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=trained, **special)


def letters():
    """Train a tokenizer like Llama 2's: merges of letters, bytes for other characters, <s> before each text."""
    special = ["<unk>", "<s>", "</s>"]
    bytewise = [f"<0x{byte:02X}>" for byte in range(256)]
    trained = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    trained.normalizer = normalizers.Sequence(
        [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
    )
    trained.decoder = decoders.Sequence(
        [
            decoders.Replace("\u2581", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=600, special_tokens=special + bytewise, show_progress=False
    )
    trained.train_from_iterator(BROAD, trainer)
    trained.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A $B", [("<s>", 1)])
    described = json.loads(trained.to_str())
    described["added_tokens"] = described["added_tokens"][: len(special)]  # no bytes
    trained = Tokenizer.from_str(json.dumps(described))
    names = {"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"}
    return PreTrainedTokenizerFast(tokenizer_object=trained, **names)


def model_for(tokenizer):
    torch.manual_seed(4)
    shared = {"vocab_size": len(tokenizer) + 28, "eos_token_id": tokenizer.eos_token_id}
    if tokenizer.pad_token is None:
        sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
        heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
        return LlamaForCausalLM(LlamaConfig(**shared, **sizes, **heads, bos_token_id=1)).eval()
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "num_layers": 2}
    config = T5Config(**shared, **sizes, pad_token_id=0, decoder_start_token_id=0)
    return T5ForConditionalGeneration(config).eval()


def logits_of(model, ids, start=0):
    more = {"decoder_input_ids": torch.tensor([[start]])} if model.config.is_encoder_decoder else {}
    with torch.inference_mode():
        return model(torch.tensor([ids]), **more).logits


@pytest.mark.parametrize("kind", [unigram, letters])
def test_text_of_kept_pieces_is_read_as_before_and_other_text_is_spelled(kind, tmp_path):
    tokenizer = kind()
    before, after = model_for(tokenizer), model_for(tokenizer)
    pieces, kept = prune_vocabulary(after, tokenizer, NARROW)
    assert len(pieces) == len(kept) == after.config.vocab_size < len(tokenizer)
    save_int8(after, tmp_path, pieces)
    again, whole = PreTrainedTokenizerFast.from_pretrained(tmp_path), set(kept.tolist())
    others = ["Several wrens, fountains; orchards.", "Zoë öß é 🐦", "<extra_id_0> Robins"]
    spelled = 0
    for text in BROAD + others:
        old, new = (one(text)["input_ids"] for one in (tokenizer, again))
        assert again.decode(new) == tokenizer.decode(old)
        if set(old) <= whole:
            assert kept[new].tolist() == old
        spelled += not set(old) <= whole
    assert spelled > 10
    assert again.special_tokens_map == tokenizer.special_tokens_map
    for text in NARROW[:2]:
        new = again(text)["input_ids"]
        expected = logits_of(before, kept[new].tolist())[..., kept]
        torch.testing.assert_close(logits_of(after, new), expected)
    assert load_int8(tmp_path).config.vocab_size == len(kept)


def test_chat_templates_and_what_they_write_are_kept():
    tokenizer = tokenizer_of("gpt2")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.chat_template = CHAT
    pieces, kept = prune_vocabulary(model_of("gpt2", tokenizer), tokenizer, NARROW)
    assert pieces.chat_template == CHAT
    old, new = (one.apply_chat_template(TURNS, return_dict=False) for one in (tokenizer, pieces))
    assert kept[new].tolist() == old
    assert "<|im_start|>user\nRobins<|im_end|>" in pieces.decode(new)


def nllb():
    """Train a tokenizer like NLLB's, with the language before each text; return three of its languages too."""
    trained = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    trained.train_from_iterator(BROAD, trainer)
    model = json.loads(trained.to_str())["model"]
    merges = [tuple(pair) for pair in model["merges"]]
    return NllbTokenizer(vocab=model["vocab"], merges=merges), ("eng_Latn", "deu_Latn", "ron_Latn")


def mbart():
    """Make a tokenizer of letters like mBART's, with the language after each text."""
    letters = sorted({letter for text in BROAD for letter in text} - {" "})
    names = ["<s>", "<pad>", "</s>", "<unk>", "\u2581", *letters, "\u2581x", "un"]
    tokenizer = MBartTokenizer(vocab=[(name, -1.0) for name in names])
    return tokenizer, ("en_XX", "de_DE", "ro_RO")


@pytest.mark.parametrize("kind", [nllb, mbart])
def test_languages_of_a_pruned_tokenizer_can_be_changed(kind, tmp_path):
    tokenizer, (first, other, third) = kind()
    tokenizer.src_lang, tokenizer.tgt_lang = first, other
    model = model_of("bart", tokenizer)
    pieces, kept = prune_vocabulary(model, tokenizer, NARROW)
    assert len(kept) == len(pieces) < len(tokenizer)
    save_int8(model, tmp_path, pieces)
    again, whole, read = AutoTokenizer.from_pretrained(tmp_path), set(kept.tolist()), 0
    for source, target in ((first, other), (third, first)):
        for one in (tokenizer, pieces, again):
            one.src_lang, one.tgt_lang = source, target
        for text in BROAD:
            for given in ({"text": text}, {"text_target": text}):
                expected = tokenizer(**given)["input_ids"]
                if set(expected) <= whole:
                    read += 1
                    assert kept[pieces(**given)["input_ids"]].tolist() == expected
                    assert kept[again(**given)["input_ids"]].tolist() == expected
    assert read > 2 * len(NARROW)


def test_special_tokens_that_texts_may_not_have_stay_split(tmp_path):
    """With `split_special_tokens` the name of a special token in a text is plain text."""
    tokenizer = tokenizer_of("gpt2")
    tokenizer.split_special_tokens = True
    text = "Robins <|endoftext|>"
    pieces, kept = prune_vocabulary(model_of("gpt2", tokenizer), tokenizer, [*NARROW, text])
    pieces.save_pretrained(tmp_path)
    for one in (pieces, AutoTokenizer.from_pretrained(tmp_path)):
        assert kept[one(text)["input_ids"]].tolist() == tokenizer(text)["input_ids"]
        assert one.eos_token_id not in one(text)["input_ids"]
