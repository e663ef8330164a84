"""Cards of a generation experiment's models: every variant with the steps that made it."""

from collections.abc import Iterator, Mapping

from weebill.experiment.pipelines import model_of, task_of
from weebill.report import noise
from weebill.report.cards.card import Card, Score
from weebill.report.lookups import generation as lookup
from weebill.report.results import Results
from weebill.report.table import shortened

TASKS = {"summarization": "summarization", "language-modelling": "text-generation"}


def cards(results: Results, folders: Mapping[str, list[str]]) -> Iterator[tuple[Card, list[str]]]:
    """Yield the card of each variant with the folder that it belongs to.  folders: variant → model folders."""
    config = results.config
    for variant, places in folders.items():
        task = task_of(config, model_of(variant))
        steps = ", then ".join(
            f"{name} ({config['steps'][name]['method']})" for name in variant.split("/")[1:]
        )
        card = Card(
            name=variant,
            task=TASKS[task],
            languages=[],
            about=f"A model for {task}, made from {model_of(variant)} by the steps {steps}.",
            intended=f"The task {task} on text like its training data. Expect lower quality on other text.",
            command=f"{_command(results, variant, places[0])}  # in Python",
            experiment=config["experiment"],
            seed=config["seed"],
            scores=[
                Score(one.data, one.metric, one.score, one.low, one.high, one.signature)
                for one in results.qualities
                if one.variant == variant
            ],
            facts=list(_facts(results, variant)),
            tags=[config["steps"][name]["method"] for name in variant.split("/")[1:]],
        )
        yield card, places


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
