"""Loading of any translator: of the runtime for Weebill models, else of PyTorch."""

import sys
from collections.abc import Iterable
from pathlib import Path

from weebill.errors import InputError
from weebill.hugging_face.recognition import is_hugging_face
from weebill.kernels.accelerator import check_device
from weebill.runtime.text import load_runtime, of_precision
from weebill_runtime.long_lines import LineTranslator
from weebill_runtime.text_translator import TextTranslator
from weebill_runtime.translator import Translator

GPU_NUMBERS = ("float16", "bfloat16")  # besides float32, which models have themselves


def load(
    folders: str | Path | Iterable[str | Path],
    precision: str | None = None,
    *,
    device: str = "cpu",
    threads: int = 1,
    isa: str | None = None,
    shortlist: str | Path | None = None,
    languages: tuple[str, str] | None = None,
) -> TextTranslator:
    """Load a student, a teacher, an ensemble or a Hugging Face model that translates.

    Weebill models run in the runtime, on a GPU through PyTorch; others run in PyTorch with its own number of
    threads. Lines that are too long are split at the ends of their sentences.

    On a GPU, `precision` may be float16 or bfloat16 instead: then the model computes in these numbers, which is
    faster. A folder with several models then provides its float32 model; for another one, name its own folder.

    Args:
        folders: a model folder, or several of equal vocabularies, which are averaged; a Hugging Face model is alone.
        precision: chooses one of several models in a folder, such as "int8" in a recipe's folder below results/; or
            float16 or bfloat16, the numbers that a GPU computes in.
        device: "cpu", "cuda", "cuda:1", …
        threads: number of the runtime's threads that translate in parallel, each with a copy of the weights; a GPU
            takes one.
        isa: the runtime's instruction set, such as avx2 or dotprod, or portable (PyTorch); None: the fastest here.
        shortlist: file of pieces to which Weebill models restrict translations, faster for large vocabularies.
        languages: input and output language, for a multilingual Hugging Face model.

    Returns:
        A translator, with `translate(sentences)`, `nbest(sentences, options)` and `scores(sentences, translations)`.

    Raises:
        InputError: if a folder is not a valid model, or an argument does not apply to it or is not available here.

    """
    given = [folders] if isinstance(folders, str | Path) else list(folders)
    check_device(device)
    numbers = precision if precision in GPU_NUMBERS else "float32"
    if numbers != "float32" and device == "cpu":
        raise InputError(
            f"precision {numbers}: GPUs compute in it; give a GPU as device, such as cuda, or leave it out"
        )
    models = []
    for model in given:
        if not is_hugging_face(model):
            model = of_precision(model, precision if numbers == "float32" else _runs_on_gpus(model))
        elif precision not in (None, *GPU_NUMBERS):
            raise InputError(
                f"precision {precision}: chooses among Weebill models; {model} is a Hugging Face model, leave it out"
            )
        models.append(model)
    own = [model for model in models if not is_hugging_face(model)]
    if languages and own:
        raise InputError(
            f"languages: for Hugging Face models of many; {own[0]} is a Weebill model, leave them out"
        )
    if isa and (device != "cpu" or len(models) > len(own)):
        raise InputError(
            "isa: for the runtime, which translates by Weebill models on the processor; leave it out"
        )
    if len(models) == len(own):
        return Translator.around(load_runtime(models, isa, shortlist, threads, numbers, device))
    if shortlist:
        raise InputError("shortlist: for Weebill models, which can restrict pieces; leave it out")
    from weebill.translation.loading import load_translator

    found = load_translator(models, device, languages, numbers)
    return LineTranslator(found, *(languages or ())[:1])


def limit_torch(translator: TextTranslator, threads: int, device: str) -> None:
    """Let a translator's process compute on `threads` cores in all, also where PyTorch computes, if it is loaded."""
    if torch := sys.modules.get("torch"):
        # The runtime on the processor has its own threads, and each may call PyTorch.
        own = isinstance(translator, Translator) and device == "cpu"
        torch.set_num_threads(1 if own else threads)


def _runs_on_gpus(folder: str | Path) -> str | None:
    """Return the precision to choose for a GPU's numbers: float32 if the folder has it, None for the only model."""
    return "float32" if (Path(folder) / "float32/config.json").is_file() else None
