"""Hugging Face sequence-to-sequence models (Marian, NLLB, M2M, mBART, T5, …) as teachers."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor

from weebill.errors import InputError, abridged
from weebill.hugging_face.loading import check_cache, library_alone, pretrained_model
from weebill.translation.model.hugging_face_folder import (
    load_tokenizer,
    positions_of,
    set_languages,
    unreadable,
)
from weebill.translation.running import ready
from weebill.translation.search.beam import check_found
from weebill_runtime.lines import checked_lines
from weebill_runtime.options import Cut, SearchOptions, length_sorted_batches, log_cut_count
from weebill_runtime.text_translator import Hypothesis, TextTranslator

BATCH_SIZE = 16  # pairs that are force-decoded together
GPU_ROWS, GPU_TOKENS = 1024, 16_384  # hypotheses, and source pieces, that a GPU searches together


class HuggingFaceTranslator(TextTranslator):
    """Translator from a model folder in transformers' format, read without internet access.

    languages: input and output language for multilingual models, as `hugging_face_folder.language_code` reads them.
    All other settings come from the folder's tokenizer and generation configuration.  precision: as in
    `running.ready`.
    A model with a fixed number of positions reads at most that number of pieces, even if the options allow more; the
    sentence's end, a language code and a prefix count too.
    Raises InputError if the folder is damaged, contains code, has no seq2seq model, or lacks one of the languages.
    """

    def __init__(
        self,
        folder: str | Path,
        device: str = "cpu",
        languages: tuple[str, str] | None = None,
        precision: str = "float32",
    ) -> None:
        self.device, self._folder = device, folder
        self._tokenizer = load_tokenizer(folder)
        with unreadable(folder):
            self._model, _ = pretrained_model(transformers.AutoModelForSeq2SeqLM, folder)
        check_cache(self._model, folder)
        self._model = ready(self._model.eval(), device, precision)
        self._check_special()
        if self._model.generation_config.pad_token_id is None:
            self._model.generation_config.pad_token_id = self._tokenizer.pad_token_id
        self.positions = positions_of(self._model.config, self._tokenizer)
        self._prefix, self._first, self._start = set_languages(self._tokenizer, languages, folder)
        with unreadable(folder), library_alone():  # settings that do not fit the model show up here
            self._generate(self._pieces(["a"], sys.maxsize)[0], SearchOptions())

    def nbest(self, sentences, options, progress=None) -> list[list[Hypothesis]]:
        """Implement `translator.TextTranslator`.  Raises InputError if the options ask for samples."""
        if options.sampling is not None:
            raise InputError("only Weebill's own models are sampled from; search with a beam")
        sentences = checked_lines("sentences", sentences)
        if not sentences:
            return []
        results = [[Hypothesis("", 0.0, ())] for _ in sentences]
        inputs = [self._prefix + sentence for sentence in sentences]
        pieces, cuts = self._pieces(inputs, self.longest(options))
        for cut in cuts:
            self.on_cut(cut)
        filled = map(bool, map(str.strip, sentences))
        lengths = [len(ids) * full for ids, full in zip(pieces, filled, strict=True)]
        for batch in self._divide(lengths, options):
            found = self._generate([pieces[index] for index in batch], options)
            for index, hypotheses in zip(batch, found, strict=True):
                results[index] = hypotheses
            if progress is not None:
                progress(len(batch))
        return results

    def _divide(self, lengths: Sequence[int], options: SearchOptions) -> list[list[int]]:
        """Divide sources into batches; a GPU has larger ones if the options name no size."""
        if options.batch_size is None and self.device.startswith("cuda"):
            size = max(1, GPU_ROWS // options.beam)
            options = replace(options, batch_size=size, batch_tokens=GPU_TOKENS)
        return options.batches(lengths)

    def _score_pairs(self, sentences, translations, options) -> np.ndarray:
        scores = self.force_decode(sentences, translations, options)
        for row, sentence in enumerate(sentences):
            if not sentence.strip():
                scores[row] = -math.inf if translations[row].strip() else 0.0
        return scores

    @torch.inference_mode()
    def force_decode(
        self,
        inputs: Sequence[str],
        outputs: Sequence[str],
        options: SearchOptions = SearchOptions(),
    ) -> np.ndarray:
        """Return (sentences,) float64: log p of each output given its input / length^length_normalisation.

        The end piece counts; the output's language code does not.  Both sides are cut to `max_source_tokens`.
        """
        most = self.longest(options)
        sides, prefixed = [], [self._prefix + text for text in inputs]
        for name, texts in (("text", prefixed), ("text_target", list(outputs))):
            pieces, cuts = self._pieces(texts, most, name)
            log_cut_count("scoring", len(cuts), len(texts), most)
            sides.append(pieces)
        lengths = [len(given) + len(output) for given, output in zip(*sides, strict=True)]
        scores = np.zeros(len(lengths))
        for rows in length_sorted_batches(lengths, BATCH_SIZE, 4096):
            given, labels = (self._padded([side[row] for row in rows]) for side in sides)
            pieces, mask = labels["input_ids"], labels["attention_mask"].bool()
            for code in (self._first, self._start):
                if code is not None:
                    mask &= pieces != code
            logits = self._model(**given, labels=pieces).logits.float()
            chosen = logits.gather(-1, pieces[..., None])[..., 0] - logits.logsumexp(-1)
            totals = chosen.double().masked_fill(~mask, 0.0).sum(1)
            counts = mask.sum(1).double() ** options.length_normalisation
            scores[rows] = (totals / counts).cpu().numpy()
        return scores

    def _padded(self, pieces: list[list[int]]) -> Any:
        return self._tokenizer.pad({"input_ids": pieces}, return_tensors="pt").to(self.device)

    def piece_counts(self, sentences: list[str]) -> list[int]:
        """Implement `TextTranslator`."""
        inputs = [self._prefix + sentence for sentence in sentences]
        return list(map(len, self._pieces(inputs, sys.maxsize)[0])) if inputs else []

    def longest(self, options: SearchOptions) -> int:
        """Implement `TextTranslator`."""
        least = self._tokenizer.num_special_tokens_to_add() + 1  # a cut keeps the special tokens
        return max(least, min(options.max_source_tokens, self.positions or math.inf))

    def _pieces(
        self, texts: list[str], most: int, name: str = "text"
    ) -> tuple[list[list[int]], list[Cut]]:
        """Return the pieces of each text, cut before its end if there are more than `most`, and the cuts."""
        # Not verbose: transformers would warn about the first long text, without its line.
        pieces = self._tokenizer(**{name: texts}, verbose=False)["input_ids"]
        cuts = [Cut(row, len(ids), most) for row, ids in enumerate(pieces) if len(ids) > most]
        self._check(pieces, texts)
        for cut in cuts:
            shorter = {name: texts[cut.sentence], "truncation": True, "max_length": most}
            pieces[cut.sentence] = self._tokenizer(**shorter)["input_ids"]
        return pieces, cuts

    def _check_special(self) -> None:
        """Raise InputError if no translation would end, or a batch be padded by a piece that the model lacks."""
        if self._model.generation_config.eos_token_id is None:
            raise InputError(
                f"{self._folder}: no eos_token_id, which ends a translation; restore generation_config.json"
            )
        tables = (self._model.get_input_embeddings(), self._model.get_output_embeddings())
        rows = range(max(len(getattr(table, "weight", ())) for table in tables))
        for name, owner in (
            ("tokenizer_config.json", self._tokenizer),
            ("generation_config.json", self._model.generation_config),
        ):
            pad = owner.pad_token_id
            if pad is not None and not (isinstance(pad, int) and pad in rows):
                raise InputError(
                    f"{self._folder}: pad_token_id is {abridged(pad, 40)}, but the model has {len(rows):,} pieces; "
                    f"restore {name}"
                )

    def _check(self, pieces: list[list[int]], texts: list[str]) -> None:
        """Raise InputError if the tokenizer finds no pieces in a text, or pieces that the model does not have."""
        rows = range(self._model.get_input_embeddings().num_embeddings)
        for ids, text in zip(pieces, texts, strict=True):
            if text.strip() and not (ids and all(one in rows for one in ids)):
                shown = f"of '{abridged(text, 40)}' the pieces {abridged(ids, 40)}"
                raise InputError(
                    f"{self._folder}: its tokenizer makes {shown}, but the model has {len(rows):,}; restore it"
                )

    @torch.inference_mode()
    def _generate(self, sources: list[list[int]], options: SearchOptions) -> list[list[Hypothesis]]:
        limits = [options.limit(len(source)) for source in sources]
        prefix, forced = 1, {}  # pieces before the output: the decoder's start, and a language code
        if self._first is not None:
            limits = [limit + 1 for limit in limits]
            prefix, forced = 2, {"forced_bos_token_id": self._first}
        elif self._start is not None:
            forced = {"decoder_start_token_id": self._start}
        if self.positions:
            limits = [min(limit, self.positions - prefix) for limit in limits]
        output = self._model.generate(
            **self._padded(sources),
            do_sample=False,
            use_cache=True,
            num_beams=options.beam,
            num_return_sequences=options.nbest,
            length_penalty=options.length_normalisation,
            max_new_tokens=max(limits),
            max_length=None,
            logits_processor=[self._end_at(limits)],
            return_dict_in_generate=True,
            output_scores=True,
            output_logits=options.beam == 1,
            **forced,
        )
        pieces = output.sequences[:, prefix:]
        texts = self._tokenizer.batch_decode(pieces, skip_special_tokens=True)
        special = set(self._tokenizer.all_special_ids)
        scores = self._scores(output, pieces, options)
        check_found(not math.isnan(score) for score in scores)
        hypotheses = [
            Hypothesis(text, score, tuple(i for i in ids if i not in special))
            for text, score, ids in zip(texts, scores, pieces.tolist(), strict=True)
        ]
        n = options.nbest
        return [hypotheses[first : first + n] for first in range(0, len(hypotheses), n)]

    def _ends(self) -> Tensor:
        ends = self._model.generation_config.eos_token_id
        return torch.tensor(ends if isinstance(ends, list) else [ends], device=self.device)

    def _end_at(self, limits: list[int]) -> Callable[[Tensor, Tensor], Tensor]:
        """Allow only the end piece when a sentence's output reaches its limit, end included."""
        ends = self._ends()
        row_limits = torch.tensor(limits, device=self.device)
        prompt = None

        def process(tokens: Tensor, scores: Tensor) -> Tensor:
            nonlocal prompt
            prompt = tokens.shape[1] if prompt is None else prompt
            beams = len(scores) // len(limits)
            full = (row_limits <= tokens.shape[1] - prompt + 1).repeat_interleave(beams)
            only_end = torch.full_like(scores, -torch.inf).index_copy(1, ends, scores[:, ends])
            return torch.where(full[:, None], only_end, scores)

        return process

    def _scores(self, output: Any, pieces: Tensor, options: SearchOptions) -> list[float]:
        """Return log p / length^length_normalisation of the pieces (sequences, steps), ends included."""
        # The end is real; the pieces after it may be the same one.
        real = torch.nn.functional.pad(torch.isin(pieces, self._ends()).cumsum(1), (1, -1)) == 0
        lengths = real.sum(1).clamp(min=1)
        if options.beam > 1:  # sequences_scores count a forced first token, with probability 1
            longer = 1.0 if self._first is None else (lengths + 1) / lengths
            return (output.sequences_scores * longer**options.length_normalisation).tolist()
        log_p = self._model.compute_transition_scores
        steps = log_p(output.sequences, output.logits, normalize_logits=True)  # (sequences, steps)
        totals = steps[:, -pieces.shape[1] :].masked_fill(~real, 0.0).sum(1)
        return (totals / lengths**options.length_normalisation).tolist()
