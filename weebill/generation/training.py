"""Training by the library's Trainer; a killed training continues to the same weights.

Batches are functions of the seed and their number (`encoding.Batches`); weights, optimizer, random state and course
are in the Trainer's checkpoints.  Losses are means over the target tokens, without padding.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed

from weebill.errors import InputError
from weebill.files import WEIGHTS, claim_folder, exclusive_folder, read_json
from weebill.generation.encoding import IGNORED, Batch, Batches
from weebill.generation.settings import PACKAGES, Device, TrainingSettings
from weebill.kernels.accelerator import REHEARSAL, check_accelerator
from weebill.kernels.cpu_matmul import training_linears, training_precision
from weebill.kernels.cuda import set_gpu_defaults
from weebill.kernels.loss_faults import LossFaults
from weebill.model_lineage import versions
from weebill.pruning.study import Companion
from weebill.workflow.progress import tell

# Function that returns the loss of a batch, a mean over its target tokens.
Objective = Callable[[nn.Module, Batch], Tensor]


def logits_of(model: nn.Module, batch: Batch, **options: Any) -> Any:
    """Return the model's output for a batch."""
    given = {key: value for key, value in batch.items() if key not in ("labels", "share")}
    return model(**given, **options)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean of −log p over the labels; logits (n, positions, V), labels (n, positions)."""
    return functional.cross_entropy(
        logits.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED
    )


def likelihood(model: nn.Module, batch: Batch) -> Tensor:
    """Return the plain objective: cross-entropy with the labels."""
    return cross_entropy(logits_of(model, batch, use_cache=False).logits, batch["labels"])


@dataclass(frozen=True)
class Course:
    """Course of a training: its updates, the one whose weights were kept, and its validations."""

    updates: int
    kept: int
    validations: list[dict[str, float]]  # {"update", "loss"}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)


def train(
    model: nn.Module,
    batches: Batches,
    validation: list[Batch],
    *,
    work: Path,
    identity: Mapping[str, Any],
    device: Device,
    objective: Objective = likelihood,
    companion: Companion | None = None,
) -> Course:
    """Train a model in place; at the end it is in evaluation mode on the CPU.

    validation: batches whose cross-entropy is measured.  work: folder of checkpoints; a training with the same
    identity continues there.
    identity: plain values for everything that the result depends on, with the caller's code.
    companion: trained with the model at its own rate; `train` attaches and finishes it.
    Raises InputError if the loss is not finite, and before training if the learning rate stays near 0.
    """
    settings, companion = batches.settings, companion or Companion()
    settings.check_schedule(batches.updates)
    if device.accelerator != "gpu":
        torch.set_num_threads(device.threads)
    if device.accelerator != "cpu":
        check_accelerator(device.accelerator)
        set_gpu_defaults()
    with exclusive_folder(work):
        begun = {
            **identity,
            "training": asdict(settings),
            "seed": batches.seed,
            "device": asdict(device),
            "software": versions(PACKAGES),
        }
        claim_folder(work, "begun_by.json", begun)
        set_seed(batches.seed)
        arguments = _arguments(settings, batches.updates, batches.seed, work, device)
        trainer = _Trainer(_Trained(model, companion), arguments, batches, validation, objective)
        with training_linears(), companion.attached():
            trainer.train(resume_from_checkpoint=_last_checkpoint(work))
        companion.finish()
    model.to("cpu").eval()
    validations = [
        {"update": entry["step"], "loss": entry["eval_loss"]}
        for entry in trainer.state.log_history
        if "eval_loss" in entry
    ]
    best = trainer.state.best_global_step if settings.keep == "best" else None
    return Course(trainer.state.max_steps, best or trainer.state.max_steps, validations)


def _last_checkpoint(work: Path) -> str | None:
    """Return the completely written checkpoint with the most updates; the state is written last."""
    found = {int(path.name.rpartition("-")[2]): path for path in work.glob("checkpoint-*")}
    for _, path in sorted(found.items(), reverse=True):
        with suppress(InputError):
            read_json(path / "trainer_state.json")
            return str(path)
    return None


class _Trained(nn.Module):
    """Model with its companion, whose states are saved together."""

    def __init__(self, network: nn.Module, companion: Companion):
        super().__init__()
        self.network, self.companion = network, companion

    def forward(self, **batch: Tensor) -> Any:
        return self.network(**batch)


class _Trainer(Trainer):
    """Trainer of the library with our batches, objective, validation and files."""

    def __init__(self, trained, arguments, batches, validation, objective):
        super().__init__(
            trained,
            arguments,
            data_collator=lambda items: items[0],  # an item is a batch already
            train_dataset=batches,
            eval_dataset=batches,  # required by the library; `evaluate` is our own
            callbacks=[_Updates(trained.companion)],
        )
        self.validation, self.objective = validation, objective
        self.faults = LossFaults(self.args.device)
        self.loss_is_scaled_for_ga = True  # by the batch's share of its update

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        """Return the objective, weighted by the batch's share, plus the companion's part."""
        loss = self.objective(model.network, inputs)
        penalty = model.companion.penalty()
        loss = loss if penalty is None else loss + penalty
        self.faults.add(loss.detach(), self.state.global_step + 1)
        return loss * inputs["share"]

    def log(self, logs, *given, **options) -> None:
        """Log, and stop a training if a loss since the last log was not finite."""
        self.faults.check()
        super().log(logs, *given, **options)

    @torch.no_grad()
    def evaluate(self, *_, **__) -> dict[str, float]:
        """Measure the cross-entropy of the validation text."""
        self.model.eval()
        total, count = torch.zeros((), dtype=torch.float64, device=self.args.device), 0
        for batch in self.validation:
            labels = int((batch["labels"] != IGNORED).sum())
            batch = self._prepare_inputs(batch)
            with self.compute_loss_context_manager():
                loss = likelihood(self.model.network, batch)
            total += loss.double() * labels
            count += labels
        metrics = {"eval_loss": float(total / count)}
        self.log(metrics)
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics

    def create_optimizer(self, model=None) -> torch.optim.Optimizer:
        """Make Adam with decoupled weight decay, except on biases and norms; the companion has its own rate."""
        if self.optimizer is None:
            network, companion = self.model.network, self.model.companion
            rate, decay = self.args.learning_rate, self.args.weight_decay
            trained = [one for one in network.parameters() if one.requires_grad]
            groups = [
                {"params": [one for one in trained if one.dim() > 1], "weight_decay": decay},
                {"params": [one for one in trained if one.dim() <= 1], "weight_decay": 0.0},
            ]
            if own := list(companion.parameters()):
                groups.append({"params": own, "lr": companion.rate or rate, "weight_decay": 0.0})
            self.optimizer = torch.optim.AdamW(groups, lr=rate, fused=True)
        return self.optimizer

    def create_scheduler(self, num_training_steps, optimizer=None):
        """Make the schedule: linear warm-up, then linear decay to 0; a companion's own rate is constant."""
        optimizer = self.optimizer if optimizer is None else optimizer
        warmup = max(1, int(self.args.warmup_steps))

        def factor(update: int) -> float:
            if update < warmup:
                return (update + 1) / warmup
            return max(0.0, (num_training_steps - update) / max(1, num_training_steps - warmup))

        own = factor if self.model.companion.rate is None else lambda update: 1.0
        factors = [factor, factor, own][: len(optimizer.param_groups)]
        self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factors)
        self._created_lr_scheduler = True
        return self.lr_scheduler

    def _save(self, output_dir=None, state_dict=None) -> None:
        """Write the state of model and companion; a tensor with several names is written once."""
        tensors, seen = {}, set()
        for name, value in self.model.state_dict().items():
            place = (value.data_ptr(), value.shape, value.dtype)
            if not value.numel() or place not in seen:
                seen.add(place)
                tensors[name] = value.detach().cpu().contiguous()
        Path(output_dir).mkdir(parents=True, exist_ok=True)
        save_file(tensors, Path(output_dir) / WEIGHTS)

    def _load_from_checkpoint(self, resume_from_checkpoint, model=None) -> None:
        self.model.load_state_dict(load_file(Path(resume_from_checkpoint) / WEIGHTS), strict=False)

    def _load_best_model(self) -> None:
        self._load_from_checkpoint(self.state.best_model_checkpoint)


class _Updates(TrainerCallback):
    """Callback that announces each update to companion and display, and validates the last one."""

    def __init__(self, companion: Companion):
        self.companion = companion

    def on_step_begin(self, args, state, control, **_):
        """Announce the beginning of an update to the companion."""
        self.companion.before_update(state.global_step + 1)

    def on_step_end(self, args, state, control, **_):
        """Validate and save after the last update too, even if it is between two validations."""
        losses = [entry["loss"] for entry in state.log_history[-2:] if "loss" in entry]
        notes = f"loss {losses[-1]:.2f}" if losses else ""
        tell(state.global_step, state.max_steps, "updates", notes)
        if state.global_step >= state.max_steps:
            control.should_evaluate = control.should_save = True


def _arguments(
    settings: TrainingSettings, updates: int, seed: int, work: Path, device: Device
) -> TrainingArguments:
    precision = training_precision(settings.precision, device.accelerator)
    if precision == "float16" and device.accelerator == REHEARSAL:
        logging.warning("the library trains in float16 on GPUs alone: the rehearsal takes bfloat16")
        precision = "bfloat16"
    arguments = TrainingArguments(
        output_dir=str(work),
        max_steps=updates,
        per_device_train_batch_size=1,  # an item is a batch
        gradient_accumulation_steps=settings.accumulate,
        train_sampling_strategy="sequential",
        learning_rate=settings.learning_rate,
        warmup_steps=settings.warmup,
        weight_decay=settings.weight_decay,
        max_grad_norm=settings.clip_norm,
        bf16=precision == "bfloat16",
        fp16=precision == "float16",
        use_cpu=device.accelerator != "gpu",
        seed=seed,
        eval_strategy="steps",
        eval_steps=settings.validate_every,
        save_strategy="steps",
        save_steps=settings.validate_every,
        save_total_limit=1,
        load_best_model_at_end=settings.keep == "best",
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        logging_steps=50,
        logging_nan_inf_filter=False,
        report_to=[],
        disable_tqdm=True,
        dataloader_pin_memory=device.accelerator == "gpu",
        accelerator_config={"non_blocking": device.accelerator == "gpu"},
        remove_unused_columns=False,
        label_names=["labels"],
    )
    # The library would spread each batch over all visible devices, and wrap the model.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    return arguments
