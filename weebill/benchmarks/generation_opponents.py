"""Other engines that generate with int8 weights, for `weebill benchmark generation`."""

from pathlib import Path
from types import SimpleNamespace

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from weebill.files import read_json

CTRANSLATE2 = "CTranslate2"


def convert_to_ctranslate2(model: PreTrainedModel, folder: Path) -> None:
    """Write a BART or GPT-2 for CTranslate2: int8 with a scale for each row, like ours.  Token i is named `i`."""
    from ctranslate2.converters import TransformersConverter

    names = {str(index): index for index in range(model.config.vocab_size)}
    kinds = ("bos", "eos", "pad")  # both engines must suppress the same end token
    ids = {kind: getattr(model.config, f"{kind}_token_id", None) or 0 for kind in kinds}
    special = {f"{kind}_token": str(index) for kind, index in ids.items()}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(WordLevel(names, unk_token="0")), unk_token="0", **special
    )
    model.config.normalize_before = False  # as in BART; the converter needs it

    class Converter(TransformersConverter):
        def load_model(self, *_, **__) -> PreTrainedModel:
            return model

        def load_tokenizer(self, *_, **__) -> PreTrainedTokenizerFast:
            return tokenizer

    model.config.save_pretrained(folder / "config")
    Converter(str(folder / "config")).convert(str(folder / CTRANSLATE2), quantization="int8")


def read_config(file: Path) -> SimpleNamespace:
    """Read a model's config.json; add `is_encoder_decoder`, which is missing for decoder-only models."""
    return SimpleNamespace(**{"is_encoder_decoder": False, **read_json(file)})


class CTranslate2Engine:
    """Model of `convert_to_ctranslate2`, on one thread."""

    def __init__(self, folder: Path):
        """Load the converted model in a folder."""
        import ctranslate2

        self.config = read_config(folder / "config/config.json")
        kind = ctranslate2.Translator if self.config.is_encoder_decoder else ctranslate2.Generator
        self._engine = kind(
            str(folder / CTRANSLATE2), compute_type="int8", inter_threads=1, intra_threads=1
        )

    def write(self, ids: Tensor, mask: Tensor, new: int) -> list[list[int]]:
        """Return `new` tokens for each text (n, length)."""
        texts = [
            [str(token) for token in row[real].tolist()]
            for row, real in zip(ids, mask.bool(), strict=True)
        ]
        if self.config.is_encoder_decoder:
            lengths = {"min_decoding_length": new, "max_decoding_length": new}
            found = self._engine.translate_batch(texts, beam_size=1, max_input_length=0, **lengths)
            written = [one.hypotheses[0] for one in found]
        else:
            found = self._engine.generate_batch(
                texts, min_length=new, max_length=new, include_prompt_in_result=False
            )
            written = [one.sequences[0] for one in found]
        return [[int(token) for token in text] for text in written]
