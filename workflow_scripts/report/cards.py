"""Write the cards of all models, and put each into the folders of its model and exports (rule model_cards)."""

from weebill.workflow.job import job

from pathlib import Path
from pkgutil import resolve_name

from weebill.files import read_json, write_text
from weebill.report.cards.card import install, render
from weebill.report.cards.sources import data_sources
from weebill.report.results import Results

with job(snakemake.log[0]):
    params, files = snakemake.params, dict(snakemake.input.items())
    lock = read_json(files["lock"][0])["sources"] if files["lock"] else {}
    sources = data_sources(params.config, lock)
    results = Results.read(params.config, files)
    cards = resolve_name(f"weebill.report.cards.{params.config['kind']}:cards")
    for (card, folders), output in zip(
        cards(results, params.folders), snakemake.output, strict=True
    ):
        text = render(card, sources)
        write_text(output, text)
        for folder in map(Path, folders):
            install(text, folder)
