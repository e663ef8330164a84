"""Write a variant for another engine.

From a model folder into a folder of CTranslate2, Marian (pruned layers filled up with zeros) or ONNX.
"""

from goldcrest.job import job
from goldcrest.runtime.exports.formats import Settings, convert
from goldcrest.translation.folder import load_model

with job(snakemake.log[0]):
    model, form = load_model(snakemake.input.model), snakemake.wildcards.format
    convert(model, form, snakemake.output[0], Settings(pad=form == "marian"))
