"""Folders of Hugging Face translation models, read without internet access, and the choice of their languages.

NLLB, M2M and mBART-50 have language codes before the input and, as a forced first token, before the output.  The
first mBART has them after the input, and starts the output with one.  Marian's models into many languages need a
code such as >>deu<< as the first word of the input.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES

from weebill.corpus.language_codes import covers, same_language, standard_tag
from weebill.errors import InputError, first_line, nearest
from weebill.hugging_face.foreign_code import CONFIG
from weebill.hugging_face.loading import check_stored, pretrained_tokenizer, read_config


class LanguageMarks(NamedTuple):
    """Language marks to add: text before the input, the output's first token, or the decoder's first input."""

    prefix: str = ""
    first: int | None = None
    start: int | None = None


@contextmanager
def unreadable(folder: str | Path) -> Iterator[None]:
    """Turn errors of transformers while it reads a folder into InputErrors of one line."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, KeyError, SafetensorError) as error:
        raise InputError(
            f"{folder}: not a Hugging Face seq2seq model with its tokenizer and model.safetensors "
            f"({first_line(error)})"
        ) from error


def load_tokenizer(folder: str | Path) -> Any:
    """Load the tokenizer of a model folder.  Raises InputError if it is missing or damaged.

    Whatever the folder says, it pads and cuts after the text: encoders count positions from the left.
    """
    with unreadable(folder):
        tokenizer = pretrained_tokenizer(folder)
        tokenizer.padding_side = tokenizer.truncation_side = "right"
        pieces = tokenizer.get_vocab()
    if odd := next((one for one in pieces.items() if not isinstance(one[1], int)), None):
        raise InputError(
            f"{folder}: its tokenizer gives the piece {odd[0]!r:.40} the number {odd[1]!r:.40}, not a whole one; "
            "restore the vocabulary"
        )
    if not isinstance(tokenizer.model_max_length, int | float):
        raise InputError(
            f"{folder}: model_max_length is {tokenizer.model_max_length!r:.40}, expected a number; "
            "restore tokenizer_config.json"
        )
    return tokenizer


def positions_of(config: Any, tokenizer: Any) -> int | None:
    """Return the largest number of pieces that a model can read and write; None for relative positions (T5)."""
    found = []
    for side in ("encoder", "decoder"):
        own = getattr(config, side, config)  # each half of an EncoderDecoderModel has its own
        for name in (f"max_{side}_position_embeddings", "max_position_embeddings"):
            number = getattr(own, name, None)
            if isinstance(number, int) and number > 0:
                found.append(number)
                break
    # RoBERTa's first positions belong to no piece; its tokenizer knows the number of the others.
    return min(*found, tokenizer.model_max_length) if found else None


def check_folder(
    folder: str | Path, languages: tuple[str, str] | None, coded: bool = False
) -> None:
    """Raise InputError if a folder has no translation model in safetensors, or none for these languages.

    languages: None if they are not known; then only a model of one language pair is accepted.
    coded: True if the user gave language codes, which a model of one language pair does not use.
    """
    place = Path(folder)
    config = read_config(place, types=True)
    kind = config.get("model_type")
    if kind not in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:
        raise InputError(
            f"{place / CONFIG}: model_type is '{kind}', expected a sequence-to-sequence model such as marian or "
            "m2m_100"
        )
    check_stored(place, config)
    tokenizer = load_tokenizer(folder)
    set_languages(tokenizer, languages, folder)
    if coded and not known_codes(tokenizer):
        message = f"{folder}: its tokenizer has no codes of languages; remove language_codes"
        raise InputError(message)


def set_languages(
    tokenizer: Any, languages: tuple[str, str] | None, folder: str | Path
) -> LanguageMarks:
    """Set a multilingual tokenizer's languages.  Raises InputError if it does not know one, or if none are given."""
    known = known_codes(tokenizer)
    if not known:
        return LanguageMarks()
    if languages is None:
        raise InputError(
            f"{folder}: a model of many languages; tell it those of input and output (--languages, or "
            "languages in a configuration)"
        )
    if not hasattr(tokenizer, "src_lang"):  # the source language is fixed, or recognised
        return LanguageMarks(prefix=f">>{language_code(known, languages[1], folder)}<< ")
    source, target = (language_code(known, one, folder) for one in languages)
    tokenizer.src_lang, tokenizer.tgt_lang = source, target
    of_code = getattr(tokenizer, "get_lang_id", tokenizer.convert_tokens_to_ids)
    code = of_code(target)
    if tokenizer(text_target="")["input_ids"][0] == code:
        return LanguageMarks(first=code)
    return LanguageMarks(start=code)


def known_codes(tokenizer: Any) -> list[str]:
    """Return the codes of a multilingual tokenizer; an empty list for other tokenizers."""
    if hasattr(tokenizer, "lang_code_to_token"):  # M2M
        return list(tokenizer.lang_code_to_token)
    if hasattr(tokenizer, "src_lang"):  # NLLB, mBART
        plain = set(tokenizer.special_tokens_map.values())
        return [token for token in tokenizer.all_special_tokens if token not in plain]
    marked = getattr(tokenizer, "supported_language_codes", [])  # Marian
    return [code.removeprefix(">>").removesuffix("<<") for code in marked]


def language_code(known: list[str], language: str, folder: str | Path) -> str:
    """Return the tokenizer's code of a language, such as deu_Latn for de.  Raises InputError unless one fits."""
    if language in known:
        return language
    found = [code for code in known if same_language(language, code)]
    found = found or [code for code in known if covers(language, code)]  # pbt_Arab for ps
    exact = [code for code in found if standard_tag(code) == standard_tag(language)]
    if len(exact or found) == 1:
        return (exact or found)[0]
    problem = f"has {' and '.join(found)} for" if found else "knows no"
    raise InputError(
        f"{folder}: its tokenizer {problem} language '{language}'; name its code (language_codes)"
        + nearest(language, known)
    )
