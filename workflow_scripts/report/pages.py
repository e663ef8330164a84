"""Write the report, Markdown pages and model cards from measurements and Snakemake's benchmarks (rule pages)."""

from weebill.workflow.job import job

import os
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name

import weebill
from weebill.files import write_text
from weebill.report.cards.card import install, render
from weebill.report.cards.sources import data_sources
from weebill.report.catalogue import CARDS, FRONTS, maker
from weebill.report.costs import read_jobs
from weebill.report.document import Exhibit, report_page
from weebill.report.figures.alt_text import picture
from weebill.report.front.front import rehearsed
from weebill.report.results import Results

with job(snakemake.log[0]):
    params, files, outputs = snakemake.params, dict(snakemake.input.items()), snakemake.output
    kind = params.config["kind"]
    results = Results.read(params.config, files)
    jobs = read_jobs(params.benchmarks)
    for output, (make, pictures) in zip(map(Path, outputs.pages), params.pages, strict=True):
        figures = os.path.relpath(params.figures, output.parent)
        shown = {
            heading: picture(f"{figures}/{file}.svg", Path(params.figures) / f"{file}.svg")
            for file, heading in pictures.items()
        }
        write_text(output, maker("pages", make)(results, jobs, shown))
    captions = Path(weebill.__file__).parents[1] / "report"
    front = maker("front", FRONTS[kind].make)(results, jobs, params.stages)
    page = report_page(
        replace(front, verdict=[*rehearsed(params.config), *front.verdict]),
        resolve_name(f"weebill.report.front.{kind}:examples")(results, files),
        [
            Exhibit(file, section, title, str(captions / f"{caption}.rst"), params.config)
            for file, section, title, caption in params.exhibits
        ],
        jobs,
        params.stages,
    )
    write_text(outputs.report, page)
    sources = data_sources(params.config, files["lock"])
    make = maker("cards", CARDS[kind].make)
    for output, (name, folders) in zip(outputs.cards, params.folders.items(), strict=True):
        text = render(make(results, name, folders[0]), params.config, sources)
        write_text(output, text)
        for folder in folders:
            install(text, Path(folder))
