"""BLEU by sacreBLEU, with the tokenizer of the target language.

The tokenizers are those that sacreBLEU advises: its own for Chinese, MeCab for Japanese and Korean, otherwise 13a.
Other scripts without spaces are divided into pieces of FLORES-200 (spBLEU, Goyal et al. 2022), or into characters if
FLORES-200 has no language in the script.
"""

import shutil
from pathlib import Path
from typing import Any

from sacrebleu.metrics import BLEU

from weebill.corpus.language_codes import scripts
from weebill.corpus.sources import Places, Source
from weebill.errors import InputError
from weebill.files import atomic_path, sha256_file

PIECES = Source(  # the same file is NLLB's sentencepiece.bpe.model
    "https://dl.fbaipublicfiles.com/large_objects/nllb/models/spm_200/flores200_sacrebleu_tokenizer_spm.model",
    name="pieces of FLORES-200",
    licence="CC BY-NC 4.0 (NLLB)",
    sha256="14bb8dfb35c0ffdea7bc01e56cea38b9e3d5efcdcb9c251d6b40538e1aab555a",
    bytes=4_852_054,
)
BY_SCRIPT = {
    **dict.fromkeys(("Hans", "Hant", "Hani", "Hanb"), "zh"),
    **dict.fromkeys(("Jpan", "Hrkt", "Hira", "Kana"), "ja-mecab"),
    **dict.fromkeys(("Kore", "Hang"), "ko-mecab"),
    **dict.fromkeys(("Thai", "Laoo", "Khmr", "Mymr", "Tibt"), "flores200"),
    **dict.fromkeys(("Bali", "Java", "Lana", "Tale", "Talu", "Yiii"), "char"),
}


def bleu(target: str = "", places: Places = Places(), **options: Any) -> BLEU:
    """Return sacreBLEU's BLEU with the tokenizer of a target language; "" means words.

    target: code of the language in any spelling, or the name of one of sacreBLEU's tokenizers.  The pieces of
    FLORES-200 are fetched once, into sacreBLEU's folder.
    Raises InputError if they cannot be fetched, or MeCab is not installed.
    """
    name = tokenizer_of(target)
    try:
        if name == "flores200":
            _provide_pieces(places)
        return BLEU(tokenize=name, **options)
    except (InputError, OSError, RuntimeError, ImportError) as error:
        # sacreBLEU itself fetches the pieces of flores101.
        reason = "install sacrebleu[ja,ko]" if name.endswith("-mecab") else error
        raise InputError(
            f"BLEU of {target} needs sacreBLEU's tokenizer {name}: {reason}; or let "
            "`bleu.tokenizer: char` of the configuration (`--target char`) count characters"
        ) from error


def tokenizer_of(target: str) -> str:
    """Return the name of sacreBLEU's tokenizer for a target language, or `target` itself if it is such a name."""
    if target in BLEU.TOKENIZERS:
        return target
    return BY_SCRIPT.get(next(iter(scripts(target)), ""), BLEU.TOKENIZER_DEFAULT)


def _provide_pieces(places: Places) -> None:
    from sacrebleu.tokenizers import tokenizer_spm

    name = Path(tokenizer_spm.SPM_MODELS["flores200"]["url"]).name
    path = Path(tokenizer_spm.SACREBLEU_DIR, "models", name)
    if not path.is_file() or sha256_file(path) != PIECES.sha256:
        with atomic_path(path) as partial:
            shutil.copyfile(places.path(PIECES), partial)
