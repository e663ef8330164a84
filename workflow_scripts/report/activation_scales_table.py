"""Set the formulas of activation scales side by side (rule activation_scales_table).

From qualities and errors into a table as CSV, Markdown, LaTeX and a page.
"""

from weebill.workflow.job import job

from weebill.evaluation.measurement import read_measurements
from weebill.quantization.activation_error import load_errors
from weebill.report.activation_scales import activation_scales_table
from weebill.report.rendering import write_table

with job(snakemake.log[0]):
    files, params = snakemake.input, snakemake.params
    errors = {
        source: load_errors(path) for source, path in zip(params.sources, files.errors, strict=True)
    }
    table = activation_scales_table(read_measurements(files.quality), errors, params.formulas)
    write_table(table, params.folder)
