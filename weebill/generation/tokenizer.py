"""Byte-level BPE like BART's and GPT-2's, trained on local text, that can spell any text."""

from collections.abc import Iterable

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from weebill.errors import InputError

LETTERS = 256  # bytes, each of which is a piece
# The special tokens have BART's numbers; GPT-2 has only one special token.
BART_TOKENS = {
    "bos_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}
GPT2_TOKENS = {
    "bos_token": "<|endoftext|>",
    "eos_token": "<|endoftext|>",
    "unk_token": "<|endoftext|>",
}


def train_tokenizer(
    texts: Iterable[str], size: int, special: dict[str, str], positions: int
) -> PreTrainedTokenizerFast:
    """Train a tokenizer of at most `size` pieces, special ones first; equal text gives equal pieces.

    special: BART_TOKENS puts <s> and </s> around each text; GPT2_TOKENS puts nothing.
    positions: length of the longest text of the model.
    Raises InputError if `size` is too small for the bytes and the special tokens.
    """
    tokens = list(dict.fromkeys(special.values()))
    if size < LETTERS + len(tokens):
        raise InputError(
            f"vocabulary: {size} pieces, expected at least {LETTERS + len(tokens)}: every byte and "
            "the special tokens"
        )
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=tokens,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    if special["bos_token"] != special["eos_token"]:
        first, last = special["bos_token"], special["eos_token"]
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{first} $A {last}",
            special_tokens=[(token, tokenizer.token_to_id(token)) for token in (first, last)],
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=positions,
        clean_up_tokenization_spaces=False,
        **special,
    )
