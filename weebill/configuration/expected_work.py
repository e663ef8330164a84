"""Estimated work of an experiment's rules; the display computes the remaining time from it."""

from weebill.configuration.estimates import Estimate
from weebill.configuration.schema import Config
from weebill.workflow.terminal.time_left import expect

# Rules whose jobs do the work of each stage of an estimate.
STAGES = {
    "teachers": ("train_teacher",),
    "reverse teachers": ("train_reverse_teacher",),
    "reverse model": ("train_reverse_model",),
    "translation": ("translate_shard", "back_translate_shard"),
    "reverse scores": ("score_by_reverse_model",),
    "students": ("train_student", "reset_checkpoint", "prune", "finetune_quantized"),
    "reference models": ("train_reference",),
    "scores of judged sets": ("score_judged", "score_by_library"),
    "quality of variants": ("summarize_test_set", "measure_perplexity"),
}
ENCODERS, ENCODER = "encoder ", ("pretrain_encoder",)  # each encoder is a stage
OTHERS = {  # without starts of jobs, because the display adds one for each job
    "text": ("import_corpus", "clean_corpus", "score_by_language_model"),
    "encoding": (),  # by the trainings
    "pruning": ("prune_metric",),
    "measuring": (
        "translate_test_set",
        "measure_student",
        "measure_speed",
        "measure_metric_speed",
        "measure_generation_speed",
    ),
}
# Rules of a stage of a generation experiment; each model is a stage.
GENERATOR = (
    "make_generator",
    "fine_tune",
    "distil_layers",
    "prune_by_movement",
    "train_quantization_aware",
)


def expected_work(config: Config, estimate: Estimate) -> dict[tuple[str, ...], float]:
    """Return the seconds of one thread for each stage, by the rules of its jobs; the key of other stages is ()."""
    # A job on a GPU occupies the threads of its process.
    threads = config["hardware"]["threads"] if estimate.device == "gpu" else 1
    work = {rules: 3600 * estimate.other_hours.get(name, 0.0) for name, rules in OTHERS.items()}
    for stage, hours in estimate.hours.items():
        rules = ENCODER if stage.startswith(ENCODERS) else STAGES.get(stage, ())
        if stage in config.get("models", ()):
            rules = GENERATOR
        work[rules] = work.get(rules, 0.0) + 3600 * threads * hours
    return work


def tell_display(config: Config, estimate: Estimate) -> Estimate:
    """Give the time of an experiment to the display of this process, if it has one; return the estimate."""
    expect(expected_work(config, estimate), 3600 * estimate.chain)
    return estimate
