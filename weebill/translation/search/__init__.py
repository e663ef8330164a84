"""Search: from source pieces to the most probable target pieces, greedily or with a beam."""
# ruff: noqa: F401  these names are imported from here

from weebill.translation.search.prepacked import fastest_precision, prepack
from weebill.translation.search.run import greedy, greedy_translations, search
from weebill_runtime.options import Candidate, Cut, Sampling, SearchOptions, find_cuts
from weebill_runtime.text_translator import Progress
