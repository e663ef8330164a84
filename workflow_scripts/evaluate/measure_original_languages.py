"""Score all variants of a student or of the teacher by the sentences' original language (rule of the same name).

Read the test sets and the variants' translations. Write BLEU with intervals for each original language.
"""

from weebill.workflow.job import job

from weebill.corpus.importers.entries import importer_from
from weebill.corpus.sources import Places
from weebill.evaluation.measurement import Variant
from weebill.evaluation.quality.original_language import measure_by_language
from weebill.evaluation.quality.translation_quality import TestSet
from weebill.files import write_json
from weebill.text_files import read_lines

with job(snakemake.log[0]):
    params, rows = snakemake.params, []
    for index, (name, entry) in enumerate(params.test_sets.items()):
        importer = importer_from(entry)
        rows += measure_by_language(
            {
                Variant.parse(variant): list(read_lines(files[index]))
                for variant, files in params.variants.items()
            },
            TestSet.read(name, snakemake.input.test_sets[index]),
            importer.original_languages(tuple(params.languages), Places(*params.places)),
            bootstrap=params.bootstrap,
            target=params.target,
        )
    write_json(snakemake.output[0], rows)
