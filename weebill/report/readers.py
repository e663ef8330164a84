"""Table of readers: kind of experiment → field of `Results` → class of its rows or function that reads its files."""

READERS = {
    "translation": {
        "qualities": "weebill.evaluation.measurement:Measurement",
        "sizes": "weebill.evaluation.size.translation_size:Size",
        "speeds": "weebill.evaluation.timing.speed:Speed",
        "latencies": "weebill.evaluation.timing.latency:Latency",
        "gpu_speeds": "weebill.evaluation.timing.gpu_speed:GpuSpeed",
        "engines": "weebill.report.results:read_records",
        "comparisons": "weebill.evaluation.quality.comparison:Comparison",
        "seeds": "weebill.evaluation.quality.comparison:SeedsComparison",
        "shortlists": "weebill.evaluation.quality.shortlist:ShortlistMeasurement",
        "texts": "weebill.evaluation.quality.comparison:Comparison",
        "pairs": "weebill.report.results:count_pairs",
        "scales": "weebill.evaluation.measurement:Measurement",
        "scale_errors": "weebill.report.results:read_scale_errors",
        "head_map": "weebill.report.results:read_csv",
        "teachers": "weebill.report.results:read_courses",
        "students": "weebill.report.results:read_courses",
    },
    "metric": {
        "qualities": "weebill.evaluation.quality.metric_quality:Agreement",
        "sizes": "weebill.evaluation.size.metric_size:MetricSize",
        "speeds": "weebill.evaluation.timing.metric_speed:MetricSpeed",
    },
    "generation": {
        "qualities": "weebill.evaluation.quality.generation_quality:GenerationQuality",
        "leads": "weebill.evaluation.quality.generation_quality:GenerationQuality",
        "sizes": "weebill.evaluation.size.generation_size:GenerationSize",
        "speeds": "weebill.evaluation.timing.generation_speed:GenerationSpeed",
        "prunings": "weebill.report.results:read_records",
    },
}
