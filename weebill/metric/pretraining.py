"""Pre-training of a small XLM-R by masked language modelling (Devlin et al. 2019, Conneau et al. 2020).

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
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    get_linear_schedule_with_warmup,
)

from weebill.errors import InputError
from weebill.files import (
    atomic_folder,
    atomic_path,
    claim_folder,
    exclusive_folder,
    remove_folder,
    write_json,
)
from weebill.kernels.cpu_matmul import OneDnnLinears
from weebill.metric.settings import PretrainingSettings
from weebill.metric.tokenizer import FILE, SentenceTokenizer
from weebill.replaceable import FolderKind, check_replaceable, has_keys
from weebill.workflow.code_version import code_of_module

WINDOW = 100  # batches sorted by length together
RESERVED = 2  # positions of XLM-R that no piece uses
CHECKPOINT = "checkpoint.pt"
PARTS = ("model", "optimizer", "schedule")  # in a checkpoint
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
        """Yield endless batches of similar length as rows (b,), from batch number `first` on.

        size: pieces of a padded batch; a longer sentence is a separate batch.
        """
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
    settings: PretrainingSettings,
    texts: Sequence[str],
    tokenizer: str | Path,
    output: str | Path,
    work: str | Path,
    seed: int,
    device: str = "cpu",
) -> None:
    """Train an encoder and write its folder, atomically: config.json, model.safetensors, tokenizer.json, RECORD.

    texts: one sentence each.  tokenizer: its folder.  work: a folder for checkpoints.  A killed run of the same
    training is continued from there, to the same bits; the folder is removed at the end.
    Raises InputError if there is no text, or the heads do not divide the width.
    """
    if settings.width % settings.heads:
        raise InputError(
            f"encoder: width {settings.width} is not divisible by {settings.heads} heads; change one"
        )
    pieces = SentenceTokenizer(tokenizer)
    sentences = Sentences(texts, pieces, settings.positions - RESERVED)
    if not len(sentences.lengths):
        raise InputError("encoder: no text to pre-train on; name files that hold some")
    check_replaceable(output, KIND)
    work = Path(work)
    identity = {
        "settings": asdict(settings),
        "seed": seed,
        "device": device,
        "threads": torch.get_num_threads(),  # the order of sums
        "texts": sentences.sha256,
        "tokenizer": pieces.sha256,
        "code": code_of_module(__name__),
        "torch": torch.__version__,
    }
    with exclusive_folder(work):
        claim_folder(work, "identity.json", identity)
        course = _Course(settings, pieces, seed, device)
        losses = course.run(sentences, work / CHECKPOINT)
        with atomic_folder(output, KIND) as folder:
            course.model.roberta.cpu().save_pretrained(folder)
            # Safetensors makes it readable by the owner alone.
            (folder / "model.safetensors").chmod(0o644)
            pieces.save(folder)
            write_json(folder / RECORD, {**identity, "losses": losses})
        remove_folder(work)


class _Course:
    """Training in progress."""

    def __init__(
        self, settings: PretrainingSettings, tokenizer: SentenceTokenizer, seed: int, device: str
    ) -> None:
        self.settings, self.tokenizer, self.seed = settings, tokenizer, seed
        self.device = torch.device(device)
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
        self.model = XLMRobertaForMaskedLM(config).to(device).train()
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(),
            lr=settings.learning_rate,
            betas=(0.9, 0.98),  # XLM-R's values, like ε and the weight decay
            eps=1e-6,
            weight_decay=settings.weight_decay,
            fused=True,
        )
        self.schedule = get_linear_schedule_with_warmup(
            self.optimizer, settings.warmup, settings.updates
        )

    def run(self, sentences: Sentences, checkpoint: Path) -> list[float]:
        """Train to the end, from the checkpoint if there is one; return mean losses between checkpoints."""
        settings = self.settings
        done, losses = self._restore(checkpoint)
        recent = []
        stream = sentences.batches(settings.batch_pieces, self.seed, done)
        for update in range(done + 1, settings.updates + 1):
            recent.append(self._update(update, sentences.batch(next(stream), self.tokenizer.pad)))
            if update % settings.checkpoint_every == 0 or update == settings.updates:
                losses.append(float(torch.stack(recent).mean()))
                recent = []
                logging.info("update %d of %d: loss %.3f", update, settings.updates, losses[-1])
                parts = {name: getattr(self, name).state_dict() for name in PARTS}
                with atomic_path(checkpoint) as partial:
                    torch.save({"update": update, "losses": losses, **parts}, partial)
        return losses

    def _update(self, number: int, pieces: Tensor) -> Tensor:
        """Do one step of the optimizer; return its loss."""
        torch.manual_seed(hash((self.seed, number)) % 2**63)
        inputs, chosen = mask_pieces(
            pieces, self.tokenizer.mask, self.tokenizer.size, self.settings.mask_share
        )
        inputs, wanted = inputs.to(self.device), pieces[chosen].to(self.device)
        whole = (pieces != self.tokenizer.pad).to(self.device)
        rounded = self.settings.precision == "bfloat16"
        with nullcontext() if rounded else OneDnnLinears():
            with torch.autocast(self.device.type, torch.bfloat16, enabled=rounded):
                states = self.model.roberta(inputs, attention_mask=whole)[0]
                # Only for the masked pieces: the map to all pieces is the largest of a small model.
                logits = self.model.lm_head(states[chosen.to(self.device)])
            loss = functional.cross_entropy(logits.float(), wanted)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm)
        self.optimizer.step()
        self.schedule.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def _restore(self, path: Path) -> tuple[int, list[float]]:
        """Restore a checkpoint; return the updates done and the losses so far."""
        if not path.is_file():
            return 0, []
        state = torch.load(path, map_location=self.device, weights_only=True)
        for name in PARTS:
            getattr(self, name).load_state_dict(state[name])
        logging.info("continuing after update %d", state["update"])
        return state["update"], state["losses"]


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
