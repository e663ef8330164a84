"""Training of a small XLM-R, by masked language modelling (Devlin et al. 2019, Conneau et al. 2020) or by a teacher.

All random choices are functions of the seed and the number of the update: batches, masks and dropout.  So a
checkpoint needs only parameters, the optimizer's state and losses.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from hashlib import sha256
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from transformers import (
    PreTrainedModel,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    get_linear_schedule_with_warmup,
)

from weebill.errors import InputError
from weebill.files import atomic_folder, atomic_path, content_hash, unfinished_work, write_json
from weebill.kernels.cpu_matmul import training_linears, training_precision
from weebill.kernels.cuda import set_gpu_defaults, to_device
from weebill.kernels.loss_faults import check_loss
from weebill.metric.attention_distillation import attention_loss, attention_mask, load_teacher
from weebill.metric.settings import AttentionDistillationSettings, PretrainingSettings
from weebill.metric.tokenizer import FILE, SentenceTokenizer
from weebill.replaceable import FolderKind, check_replaceable, has_keys
from weebill.workflow.code_version import code_of_module
from weebill.workflow.progress import tell

WINDOW = 100  # batches sorted by length together
RESERVED = 2  # positions of XLM-R that no piece uses
END = 2  # the id of </s>; <s> and <pad> are before it
AT_ONCE = 65_536  # sentences tokenized together
RECORD = "pretraining.json"
KIND = FolderKind(
    always=("config.json", "model.safetensors", FILE, RECORD),
    mark=(RECORD, lambda file: has_keys(file, {"losses", "code"})),
)


class Sentences:
    """Concatenated pieces of many sentences, special ones included."""

    def __init__(self, texts: Sequence[str], tokenizer: SentenceTokenizer, longest: int) -> None:
        """Tokenize texts; leave out empty ones and cut long ones."""
        texts = [text for text in texts if text.strip()]
        lengths, pieces = [], [np.zeros(0, dtype=np.int32)]
        for start in range(0, len(texts), AT_ONCE):
            found, _ = tokenizer.encode(texts[start : start + AT_ONCE], longest)
            lengths += [len(one) for one in found]
            pieces.append(np.fromiter(chain.from_iterable(found), dtype=np.int32))
        self.lengths = np.array(lengths, dtype=np.int64)
        self._pieces = np.concatenate(pieces)
        self._ends = self.lengths.cumsum()

    @property
    def sha256(self) -> str:
        """Hash of all pieces and sentence ends."""
        digest = sha256(self._pieces)
        digest.update(self._ends)
        return digest.hexdigest()

    def batch(self, rows: np.ndarray, pad: int) -> Tensor:
        """Return some sentences as a padded batch (b, longest)."""
        batch = torch.full((len(rows), int(self.lengths[rows].max())), pad)
        for place, row in zip(batch, rows, strict=True):
            end, length = self._ends[row], self.lengths[row]
            place[:length] = torch.from_numpy(self._pieces[end - length : end])
        return batch

    def batches(self, size: int, seed: int, first: int) -> Iterator[np.ndarray]:
        """Yield endless batches of rows (b,) of similar length, from number `first` on; size: pieces with padding."""
        number, epoch = 0, 0
        per_window = max(1, int(WINDOW * size / self.lengths.mean()))
        while True:
            order = np.random.default_rng((seed, epoch)).permutation(len(self.lengths))
            for begin in range(0, len(order), per_window):
                rows = order[begin : begin + per_window]
                rows = rows[np.lexsort((rows, self.lengths[rows]))]
                cuts = list(_cuts(self.lengths[rows], size))
                shuffled = np.random.default_rng((seed, epoch, begin)).permutation(len(cuts))
                for cut in shuffled[max(0, first - number) :]:
                    yield rows[cuts[cut]]
                number += len(cuts)
            epoch += 1


def pretrain(
    settings: PretrainingSettings | AttentionDistillationSettings,
    texts: Sequence[str],
    tokenizer: str | Path,
    output: str | Path,
    seed: int,
    device: str = "cpu",
) -> None:
    """Train an encoder and write its folder, atomically: config.json, model.safetensors, tokenizer.json, RECORD.

    texts: one sentence each.  tokenizer: its folder; for a distillation of attention, the teacher's own folder.
    Unfinished training in `OUTPUT.work` is continued to the same bits.
    Raises InputError if there is no text, or the student's number of heads differs from its teacher's.
    """
    teacher = None
    if isinstance(settings, AttentionDistillationSettings):
        teacher = load_teacher(tokenizer, settings).to(device)
    pieces = SentenceTokenizer(tokenizer)
    sentences = Sentences(texts, pieces, settings.positions - RESERVED)
    if not len(sentences.lengths):
        raise InputError("encoder: no text to pre-train on; name files that hold some")
    check_replaceable(output, KIND)
    identity = {
        "settings": asdict(settings),
        "teacher": content_hash(tokenizer) if teacher is not None else None,
        "seed": seed,
        "device": device,
        "threads": torch.get_num_threads(),  # the order of sums
        "texts": sentences.sha256,
        "tokenizer": pieces.sha256,
        "code": code_of_module(__name__),
        "torch": torch.__version__,
    }
    with unfinished_work(output, identity) as work:
        checkpoint = work / "checkpoint.pt"
        model, losses = _train(settings, sentences, pieces, teacher, seed, device, checkpoint)
        with atomic_folder(output, KIND) as folder:
            model.roberta.cpu().save_pretrained(folder)
            (folder / "model.safetensors").chmod(0o644)  # the library lets only the owner read it
            pieces.save(folder)
            write_json(folder / RECORD, {**identity, "losses": losses})


def _train(
    settings: PretrainingSettings | AttentionDistillationSettings,
    sentences: Sentences,
    tokenizer: SentenceTokenizer,
    teacher: PreTrainedModel | None,
    seed: int,
    device: str,
    checkpoint: Path,
) -> tuple[XLMRobertaForMaskedLM, list[float]]:
    """Train to the end, from the checkpoint if there is one; return the model and mean losses between checkpoints."""
    torch.manual_seed(seed)
    config = XLMRobertaConfig(
        vocab_size=tokenizer.size,
        hidden_size=settings.width,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.heads,
        intermediate_size=settings.intermediate,
        max_position_embeddings=settings.positions,
        hidden_dropout_prob=settings.dropout,
        attention_probs_dropout_prob=settings.dropout,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
    )
    if device != "cpu":
        set_gpu_defaults()
    model = XLMRobertaForMaskedLM(config).to(device).train()
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=settings.learning_rate,
        betas=(0.9, 0.98),  # XLM-R's values, like ε and the weight decay
        eps=1e-6,
        weight_decay=settings.weight_decay,
        fused=True,
    )
    schedule = get_linear_schedule_with_warmup(optimizer, settings.warmup, settings.updates)
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    done, losses, recent = 0, [], []
    if checkpoint.is_file():
        state = torch.load(checkpoint, map_location=device, weights_only=True)
        for name, part in parts.items():
            part.load_state_dict(state[name])
        done, losses = state["update"], state["losses"]
        logging.info("continuing after update %d", done)
    stream = sentences.batches(settings.batch_pieces, seed, done)
    for update in range(done + 1, settings.updates + 1):
        torch.manual_seed(hash((seed, update)) % 2**63)
        pieces = sentences.batch(next(stream), tokenizer.pad)
        recent.append(_learn(model, pieces, tokenizer, settings, teacher))
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip_norm)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        tell(update, settings.updates, "updates", f"loss {losses[-1]:.2f}" if losses else "")
        if update % settings.checkpoint_every == 0 or update == settings.updates:
            losses.append(float(torch.stack(recent).mean()))
            check_loss(losses[-1], update)
            recent = []
            logging.info("update %d of %d: loss %.3f", update, settings.updates, losses[-1])
            state = {name: part.state_dict() for name, part in parts.items()}
            with atomic_path(checkpoint) as partial:
                torch.save({"update": update, "losses": losses, **state}, partial)
    return model, losses


def _learn(
    model: XLMRobertaForMaskedLM,
    pieces: Tensor,
    tokenizer: SentenceTokenizer,
    settings: PretrainingSettings | AttentionDistillationSettings,
    teacher: PreTrainedModel | None,
) -> Tensor:
    """Return the loss of a batch (b, n), after its backward pass."""
    device = model.device
    whole = to_device(pieces != tokenizer.pad, device)
    accelerator = "cpu" if device.type == "cpu" else "gpu"
    rounded = training_precision(settings.precision, accelerator) == "bfloat16"
    with nullcontext() if rounded else training_linears():
        with torch.autocast(device.type, torch.bfloat16, enabled=rounded):
            if teacher is None:
                loss = _masked_loss(model, pieces, whole, tokenizer, settings.mask_share)
            else:
                loss = attention_loss(model.roberta, teacher, to_device(pieces, device), whole)
        loss.backward()
    return loss.detach()


def _masked_loss(
    model: XLMRobertaForMaskedLM,
    pieces: Tensor,
    whole: Tensor,
    tokenizer: SentenceTokenizer,
    share: float,
) -> Tensor:
    inputs, chosen = mask_pieces(pieces, tokenizer.mask, tokenizer.size, share)
    device = model.device
    # Places instead of a mask: a GPU would have to count a mask before the process could continue.
    places = to_device(chosen.flatten().nonzero()[:, 0], device)
    wanted = to_device(pieces[chosen], device)
    states = model.roberta(to_device(inputs, device), attention_mask=attention_mask(whole))[0]
    # Only for the masked pieces: the map to all pieces is the largest part of a small model.
    logits = model.lm_head(states.flatten(0, 1)[places])
    return functional.cross_entropy(logits.float(), wanted)


def mask_pieces(pieces: Tensor, mask: int, size: int, share: float) -> tuple[Tensor, Tensor]:
    """Return the input (b, n) of masked language modelling, and the mask of the pieces to predict (b, n).

    A share of the pieces (b, n), except <s>, <pad> and </s>, is to be predicted, at least one: 80 % of them become
    `mask`, 10 % a random one of the `size` pieces except these three, 10 % stay (Devlin et al. 2019, §3.1).
    """
    allowed = pieces > END
    chosen = allowed & (torch.rand(pieces.shape) < share)
    if not chosen.any():
        chosen.view(-1)[allowed.flatten().float().argmax()] = True
    fate = torch.rand(pieces.shape)
    inputs = torch.where(chosen & (fate < 0.8), mask, pieces)
    drawn = torch.randint(END + 1, size, pieces.shape)
    return torch.where(chosen & (fate >= 0.9), drawn, inputs), chosen


def _cuts(lengths: np.ndarray, size: int) -> Iterator[slice]:
    """Divide ascending lengths into ranges whose padded size is at most `size`."""
    begin = 0
    for row, length in enumerate(lengths.tolist()):
        if row > begin and (row - begin + 1) * length > size:
            yield slice(begin, row)
            begin = row
    yield slice(begin, len(lengths))
