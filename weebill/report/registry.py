"""Registered names by kind of experiment: readers of measurements, and modules of the papers' tables."""

from weebill.report.papers import PAPERS

# Field of `Results` → class of its rows, or function that reads its files.
READERS = {
    "translation": {
        "qualities": "weebill.evaluation.measurement:Measurement",
        "origins": "weebill.evaluation.quality.original_language:OriginQuality",
        "sizes": "weebill.evaluation.size.translation_size:Size",
        "speeds": "weebill.evaluation.timing.speed:Speed",
        "latencies": "weebill.evaluation.timing.latency:Latency",
        "gpu_speeds": "weebill.evaluation.timing.gpu_speed:GpuSpeed",
        "engines": "weebill.report.results:read_records",
        "steps": "weebill.evaluation.quality.comparison:Comparison",
        "comparisons": "weebill.evaluation.quality.comparison:Comparison",
        "seeds": "weebill.evaluation.quality.comparison:SeedsComparison",
        "shortlists": "weebill.evaluation.quality.shortlist:ShortlistMeasurement",
        "texts": "weebill.evaluation.quality.comparison:Comparison",
        "pairs": "weebill.report.tables.training_texts:count_pairs",
        "firefox": "weebill.report.results:read_records",
        "alignments": "weebill.report.results:read_records",
        "scale_errors": "weebill.report.tables.activation_scales:read_scale_errors",
        "head_map": "weebill.report.results:read_csv",
        "teachers": "weebill.report.results:read_courses",
        "students": "weebill.report.results:read_courses",
    },
    "metric": {
        "qualities": "weebill.evaluation.quality.metric_quality:Agreement",
        "sizes": "weebill.evaluation.size.metric_size:MetricSize",
        "speeds": "weebill.evaluation.timing.metric_speed:MetricSpeed",
        "robustness": "weebill.evaluation.quality.robustness:Robustness",
    },
    "generation": {
        "qualities": "weebill.evaluation.quality.generation_quality:GenerationQuality",
        "leads": "weebill.evaluation.quality.generation_quality:GenerationQuality",
        "sizes": "weebill.evaluation.size.generation_size:GenerationSize",
        "speeds": "weebill.evaluation.timing.generation_speed:GenerationSpeed",
        "prunings": "weebill.report.results:read_records",
    },
}
# Modules that declare TABLES, in the order of the papers.
PAPER_TABLES = {
    kind: tuple(
        f"weebill.report.tables.beside_papers.{name}:TABLES"
        for name, paper in PAPERS.items()
        if paper.kind == kind
    )
    for kind in READERS
}
