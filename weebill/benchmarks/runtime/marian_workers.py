"""Programs of the engines of Marian's family, each for the Python of its own environment.

A program defines `work` for `benchmarks.opponent`: it loads a model, keeps the lines of text of each call, and
translates them.  The engines' compiled modules are loaded without the Python code around them, which needs further
packages or a network.
"""

COMMON = """
import sys
from importlib.metadata import version
from time import perf_counter
translate, calls = None, []
def timed(lines):
    start = perf_counter()
    translate(lines)
    return perf_counter() - start
def load_model(options):
    global translate
    translate = load(options)
def keep(lines):
    calls[:] = lines
def work(task):
    tasks = {
        "version": lambda: version(NAME),
        "load": load_model,
        "keep": keep,
        "time": lambda: [timed(lines) for lines in calls],
        "translate": lambda lines: translate(lines),
    }
    name, *given = task
    return tasks[name](*given)
"""

# The options are those of Marian's decoder.
BERGAMOT = """
import importlib.util
from pathlib import Path
NAME = "bergamot"
[place] = importlib.util.find_spec(NAME).submodule_search_locations
[library] = Path(place).glob("_bergamot*.so")
spec = importlib.util.spec_from_file_location("_bergamot", library)
engine = importlib.util.module_from_spec(spec)
spec.loader.exec_module(engine)
service = engine.Service(engine.ServiceConfig(numWorkers=1, logLevel="off"))  # a process can have one
def load(options):
    page = options.pop("html", False)
    model = service.modelFromConfig(json.dumps(options))
    wanted = engine.ResponseOptions(
        qualityScores=False, sentenceMappings=False, alignment=page, HTML=page)
    def translate(lines):
        found = service.translate(model, engine.VectorString(lines), wanted)
        return [one.target.text for one in found]
    return translate
"""

PYMARIAN = """
import _pymarian
NAME = "pymarian"
def words(value):
    return [] if value is True else value if isinstance(value, list) else [value]
def load(options):
    kind, model = options.pop("gemm-type", None), options["models"][0]
    if kind:
        converted = model + "." + kind + ".bin"
        _pymarian.main(["convert", "--from", model, "--to", converted, "--gemm-type", kind])
        options["models"] = [converted]
    line = " ".join(" ".join(map(str, ["--" + name, *words(value)])) for name, value in options.items())
    return _pymarian.Translator(line).translate
"""

FXTRANSLATE = """
from pathlib import Path
import fxtranslate
NAME = "fxtranslate"
def load(options):
    files = [Path(options[name][0]) for name in ("models", "shortlist") if name in options]
    model, *shortlist = [path.read_bytes() for path in files]
    vocabularies = [Path(one).read_bytes() for one in options["vocabs"]]
    one = fxtranslate.Translator(model, *vocabularies, *shortlist)
    return lambda lines: [one.translate(line) for line in lines]
"""

BODIES = {"bergamot": BERGAMOT, "pymarian": PYMARIAN, "fxtranslate": FXTRANSLATE}
