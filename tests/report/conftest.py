"""Invented results of a small experiment, in the form of the workflow's measurements."""

import csv
import io
from dataclasses import replace

import pytest

from weebill.evaluation.measurement import Measurement, Variant
from weebill.evaluation.quality.comparison import Comparison
from weebill.evaluation.size.translation_size import Size
from weebill.evaluation.timing.gpu_speed import GpuSpeed
from weebill.evaluation.timing.latency import Latency
from weebill.evaluation.timing.speed import Speed
from weebill.report import rendering
from weebill.report.results import Results
from weebill.report.table import Table
from weebill_runtime.architecture import Architecture, LayerShape

CONFIG = {
    "experiment": "example",
    "languages": {"source": "en", "target": "de"},
    "test_sets": {"first": {}, "second": {}},
    "report": {
        "columns": {
            "wngt20": {"bleu_wmt19": ["first"], "bleu_wmt1x": ["first", "second"]},
            "wmt21": {"bleu_wmt20": ["second"]},
        },
        "rows": {"small": {"wngt20": "tiny", "wmt21": "12-1.tiny"}},
    },
    "pruning": {"pushy-i6": {"method": "late-reset", "criterion": "confidence"}},
}
VARIANTS = {  # variant -> BLEU on the first test set, MiB, heads per layer, words per second on one core
    "teacher/beam-4/float32": (40.0, 120.0, (8,) * 6, 200.0),
    "teacher/greedy/float32": (39.5, 120.0, (8,) * 6, 700.0),
    "small/unpruned/float32": (39.0, 60.0, (8,) * 6, 2000.0),
    "small/beam-4/float32": (39.375, 60.0, (8,) * 6, 800.0),
    "small/unpruned/int8": (38.25, 15.0, (8,) * 6, 3000.0),
    "small/unpruned/int8-finetuned": (38.875, 15.0, (8,) * 6, 3000.0),
    "small/unpruned/log4-finetuned": (38.0, 7.5, (8,) * 6, 2000.0),
    "small/pushy-i6/float32": (38.5, 55.0, (2,) * 6, 2400.0),
    "small/pushy-i6/int8-finetuned": (38.0, 14.0, (2,) * 6, 3500.0),
    "other/unpruned/float32": (30.0, 20.0, (4,) * 3, 4000.0),
}
VERSIONS = {"python": "3.11.0", "torch": "2.13.0", "sacrebleu": "2.6.0", "weebill": "0.1.0"}
SIGNATURE = "nrefs:1|bs:100|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


def read(table: Table) -> list[dict[str, str]]:
    """Return the rows of a table as in its CSV file."""
    return list(csv.DictReader(io.StringIO(rendering.to_csv(table))))


def measurement(variant: Variant, test_set: str, metric: str, score: float) -> Measurement:
    baseline = variant == variant.baseline or variant.student == "teacher"
    return Measurement(
        variant=str(variant),
        student=variant.student,
        recipe=variant.recipe,
        precision=variant.precision,
        test_set=test_set,
        metric=metric,
        score=score,
        low=score - 1,
        high=score + 1,
        sentences=1000,
        compared_with=None if baseline else str(variant.baseline),
        p_value=None if baseline else 0.04,
        signature=SIGNATURE,
        test_set_sha256="5" * 64,
        model_sha256="a" * 64,
        seed=1,
        versions=VERSIONS,
    )


def size(
    variant: Variant, mib: float, heads: tuple[int, ...], neurons: tuple[int, ...] | None = None
) -> Size:
    widths = neurons or (1536,) * len(heads)
    encoder = tuple(LayerShape(h, 32, width) for h, width in zip(heads, widths, strict=True))
    architecture = Architecture(32000, 256, encoder, (LayerShape(8, 32, 1536),), 2)
    return Size(
        variant=str(variant),
        student=variant.student,
        recipe=variant.recipe,
        precision=variant.precision,
        members=2 if variant.student == "teacher" else 1,
        parameters=int(mib * 2**18),
        parameter_bytes=int(mib * 2**20),
        xz_bytes=int(mib * 2**20 * 0.9),
        xz_preset=6,
        vocabulary_bytes=1000,
        files={"model.safetensors": int(mib * 2**20)},
        architecture=architecture.to_dict(),
        model_sha256="a" * 64,
    )


RUNTIME = "Weebill runtime (vnni)"
PYTORCH = "PyTorch reference"


def engines(variant: Variant) -> dict[str, float]:
    """Return the engines of a variant, with speeds as multiples of the runtime's."""
    return {PYTORCH: 1.0} if variant.student == "teacher" else {PYTORCH: 0.25, RUNTIME: 1.0}


def speed(variant: Variant, engine: str, words_per_second: float, processes: int) -> Speed:
    rate = words_per_second * processes
    return Speed(
        variant=str(variant),
        engine=engine,
        beam=4 if variant.recipe == "beam-4" else 1,
        batch_size=32,
        processes=processes,
        threads=1,
        sentences=500,
        words=10000,
        seconds=[10000 / rate * factor for factor in (0.9, 1.0, 1.1)],
        words_per_second=rate,
        slowest=rate / 1.1,
        fastest=rate / 0.9,
        hardware="Test processor, 2 cores",
        versions=VERSIONS,
    )


def gpu_speed(variant, numbers, shortlist, batch, words_per_second, bleu=None):
    """Return a timing of 1,000 words; bleu: scores by test set, if measured."""
    return GpuSpeed(
        variant,
        numbers,
        shortlist,
        batch,
        sentences=10,
        words=1000,
        seconds=[1.0],
        words_per_second=words_per_second,
        hardware="a GPU",
        versions={},
        bleu=bleu or {},
        signature="nrefs:1" if bleu else "",
        text="first, second, web",
    )


def latency(variant: Variant, engine: str) -> Latency:
    return Latency(
        variant=str(variant),
        engine=engine,
        beam=4 if variant.recipe == "beam-4" else 1,
        sentences=200,
        mean_ms=1.25,
        p50_ms=1.0,
        p95_ms=4.0,
        p99_ms=20.0,
        load_seconds=0.125,
        idle_mib=300.0,
        peak_mib=412.0,
        hardware="Test processor, 2 cores",
        versions={"python": "3.11.0"},
    )


BENCHMARK = {
    "rows": [
        {
            "claim": "tiny, vnni: int8 against float32",
            "ours": 20000.0,
            "other": 8000.0,
            "unit": "words/s",
            "ratio": 2.5,
            "lowest": 2.375,
            "highest": 2.625,
            "paper": 1.41,
            "rounds": 3,
        },
        {
            "claim": "tiny, vnni: int8 with shortlist, p50 latency",
            "ours": 0.5,
            "other": 2.0,
            "unit": "ms",
            "ratio": 0.25,
            "lowest": 0.25,
            "highest": 0.25,
            "paper": None,
            "rounds": 3,
        },
    ],
    "rounds": 3,
    "sentences": 3000,
    "hardware": "Test processor, 2 cores",
    "versions": {"python": "3.11.0", "ctranslate2": "4.8.5"},
}


@pytest.fixture
def results() -> Results:
    measurements, sizes, speeds, latencies = [], [], [], []
    for name, (bleu, mib, heads, rate) in VARIANTS.items():
        variant = Variant.parse(name)
        for test_set, shift in (("first", 0.0), ("second", -6.0)):
            measurements.append(measurement(variant, test_set, "BLEU", bleu + shift))
            measurements.append(measurement(variant, test_set, "chrF", bleu + shift + 20))
        sizes.append(size(variant, mib, heads))
        for engine, share in engines(variant).items():
            speeds += [speed(variant, engine, rate * share, count) for count in (1, 2)]
            latencies.append(latency(variant, engine))
    fastest = speed(Variant.parse("other/unpruned/float32"), PYTORCH, 2500.0, 1)
    speeds.append(replace(fastest, threads=2))
    return Results(CONFIG, measurements, sizes, speeds, latencies)


# A pruning experiment: recipe → settings, heads and neurons of the encoder's layers, BLEU, words per second.
PRUNED = {
    "unpruned": (None, (8, 8), (100, 100), 30.0, 1000.0),
    "pushy": (CONFIG["pruning"]["pushy-i6"], (1, 3), (100, 100), 29.5, 1200.0),
    "chance": ({"method": "late-reset", "criterion": "random"}, (2, 2), (100, 100), 28.25, 1200.0),
    "lasso": ({"method": "group-lasso", "groups": "rowcol"}, (4, 0), (10, 40), 29.0, 1500.0),
    "anew": ({"method": "from-scratch", "like": "lasso"}, (4, 0), (10, 40), 28.0, 1500.0),
    "top": ({"method": "depth", "layers": 1}, (8,), (100,), 27.0, 1600.0),
}
BASELINES = {"pushy": ["chance"], "lasso": ["anew"]}  # in addition to unpruned


@pytest.fixture
def pruned_results() -> Results:
    """Return each recipe in float32 and in int8; int8 is 0.25 BLEU worse and twice as fast."""
    measurements, sizes, speeds, comparisons = [], [], [], []
    for recipe, (_, heads, neurons, bleu, rate) in PRUNED.items():
        for precision, loss, times in (("float32", 0.0, 1), ("int8", 0.25, 2)):
            variant = Variant("small", recipe, precision)
            measurements.append(measurement(variant, "first", "BLEU", bleu - loss))
            sizes.append(size(variant, 60.0, heads, neurons))
            for engine, share in engines(variant).items():
                speeds += [speed(variant, engine, rate * times * share, n) for n in (1, 2)]
            others = ["unpruned", *BASELINES.get(recipe, [])] if recipe != "unpruned" else []
            for other in others:
                baseline = Variant("small", other, precision)
                comparisons.append(
                    comparison(variant, baseline, bleu - loss, PRUNED[other][3] - loss)
                )
    recipes = {name: recipe for name, (recipe, *_) in PRUNED.items() if recipe}
    config = {**CONFIG, "test_sets": {"first": {}}, "pruning": recipes}
    return Results(config, measurements, sizes, speeds, comparisons=comparisons)


def comparison(variant: Variant, baseline: Variant, score: float, other: float) -> Comparison:
    return Comparison(
        variant=str(variant),
        baseline=str(baseline),
        test_sets=["first"],
        sentences=1000,
        score=score,
        low=score - 1,
        high=score + 1,
        baseline_score=other,
        baseline_low=other - 1,
        baseline_high=other + 1,
        difference=score - other,
        difference_low=score - other - 0.5,
        difference_high=score - other + 0.5,
        p_value=0.01,
        signature=SIGNATURE,
    )
