"""Draw the course of trainings (rules teacher_training_figure and student_training_figure).

From model folders, which remember their validations, into a figure of BLEU by update.
"""

from weebill.workflow.job import job

from pathlib import Path

from weebill.files import read_json
from weebill.report import figures

with job(snakemake.log[0]):
    courses = {
        name: read_json(Path(folder) / "config.json")["lineage"]["course"]["history"]
        for name, folder in zip(snakemake.params.names, snakemake.input.models, strict=True)
    }
    path = Path(snakemake.output[0])
    figures.save(figures.training(courses, snakemake.params.title), path.parent, path.stem)
