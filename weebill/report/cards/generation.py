"""Cards of a generation experiment's models: every variant with the steps that made it."""

from collections.abc import Iterator

from weebill.experiment.pipelines import model_of, task_of
from weebill.report import noise
from weebill.report.cards.card import Card, Score
from weebill.report.lookups import generation as lookup
from weebill.report.results import Results
from weebill.report.table import shortened

TASKS = {"summarization": "summarization", "language-modelling": "text-generation"}


def card_of(results: Results, name: str, folder: str) -> Card:
    """Return the card of a variant, by its name and its model folder."""
    config, model = results.config, model_of(name)
    task, names = task_of(config, model), name.split("/")[1:]
    methods = [config["steps"][step]["method"] for step in names]
    steps = ", then ".join(map("{} ({})".format, names, methods))
    return Card(
        name=name,
        task=TASKS[task],
        languages=[],
        about=f"A model for {task}, made from {model} by the steps {steps}.",
        intended=f"The task {task} on text like its training data. Expect lower quality on other text.",
        command=f"{_command(results, name, folder)}  # in Python",
        scores=[
            Score(one.data, one.metric, one.score, one.low, one.high, one.signature)
            for one in results.qualities
            if one.variant == name
        ],
        facts=list(_facts(results, name)),
        tags=methods,
    )


def _command(results: Results, variant: str, folder: str) -> str:
    """Return the expression of Python that loads a variant; transformers refuses a model with heads removed."""
    methods = lookup.methods(results, variant)
    if methods[-1] == "post-training":
        return f'weebill.load_int8("{folder}")'
    if "movement" in methods:
        load = "from weebill.hugging_face.folder import load_model"
        return f'{load}; load_model("{folder}", generates=True)'
    task = task_of(results.config, model_of(variant))
    kind = {"summarization": "Seq2SeqLM", "language-modelling": "CausalLM"}[task]
    return f'transformers.AutoModelFor{kind}.from_pretrained("{folder}")'


def _facts(results: Results, variant: str) -> Iterator[tuple[str, str]]:
    if size := results.size(variant):
        yield "Size", f"{shortened(size.mib)} MiB"
        yield "SHA-256 of the parameters", f"`{size.model_sha256}`"
    if one := lookup.speed(results, variant):
        seconds = f"{shortened(one.seconds_per_example)}{noise.mark(one.seconds)} s an example"
        yield (
            "Time",
            f"{seconds}, {shortened(one.milliseconds_per_token)} ms a token, on one core of {one.hardware}",
        )
