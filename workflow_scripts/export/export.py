"""Write a variant for another engine.

Read a model folder and its shortlist, if it has one. Write a folder for CTranslate2, Marian or Firefox (pruned layers
are padded with zeros), or ONNX.
"""

from weebill.workflow.job import job

from weebill.runtime.exports.formats import convert
from weebill.translation.model.packed_folder import load_any_model
from weebill_runtime.shortlist import Shortlist

with job(snakemake.log[0]):
    model, form = load_any_model(snakemake.input.model), snakemake.wildcards.format
    shortlist = None
    if len(snakemake.input) > 1:
        vocabulary = model.vocabulary
        shortlist = Shortlist.load(snakemake.input[0], vocabulary.sizes, vocabulary.sha256)
    convert(model, form, snakemake.output[0], shortlist, pad=form in ("marian", "firefox"))
