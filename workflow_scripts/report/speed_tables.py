"""Write all tables of measured times (rule speed_tables), as CSV, Markdown, LaTeX and pages."""

from weebill.workflow.job import job

from weebill.evaluation.timing.gpu_speed import read_gpu_speeds
from weebill.files import read_json
from weebill.report.gpu import gpu_tables
from weebill.report.paper_tables import TABLES, build
from weebill.report.pruning import pruned_speed_table
from weebill.report.rendering import write_table
from weebill.report.results import Results
from weebill.report.speeds import benchmark_table, latency_table, speed_table

with job(snakemake.log[0]):
    files = snakemake.input
    results = Results.read(
        snakemake.params.config,
        files.quality,
        files.sizes,
        files.speed,
        files.latency,
        files.comparisons,
    )
    tables = [build(definition, results, speed=True) for definition in TABLES if definition.speed]
    for path in files.gpu:
        tables += gpu_tables(results, read_gpu_speeds(path))
    tables += [benchmark_table(read_json(path)) for path in files.engines]
    if results.comparisons:
        tables.append(pruned_speed_table(results))
    for table in [speed_table(results), latency_table(results), *tables]:
        write_table(table, snakemake.params.folder)
