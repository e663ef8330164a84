from weebill.errors import InputError as InputError
from weebill.generation.int8 import load_int8 as load_int8
from weebill.metric.scorer import Scorer as Scorer
from weebill.runtime.loading import load as load
from weebill_runtime.options import SearchOptions as SearchOptions

__version__: str
