"""Translate each line of standard input alone with native Bergamot: `PYTHON bergamot_engine.py FOLDER`.

PYTHON has the wheel `bergamot`, which exists for Python 3.7 to 3.10, and PyYAML.  FOLDER is an export for Firefox.
Bergamot's Python module needs the packages of its command line, so only its compiled part is loaded.
"""

import importlib.util
import sys
from pathlib import Path

import yaml

[place] = importlib.util.find_spec("bergamot").submodule_search_locations
[path] = Path(place).glob("_bergamot*")
spec = importlib.util.spec_from_file_location("_bergamot", path)
bergamot = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bergamot)

folder = Path(sys.argv[1])
settings = yaml.safe_load((folder / "config.intgemm8bitalpha.yml").read_text())
del settings["relative-paths"]
for key in ("models", "vocabs"):
    settings[key] = [str(folder / name) for name in settings[key]]
if "shortlist" in settings:
    settings["shortlist"] = [str(folder / settings["shortlist"][0]), True]  # True: check the file
settings["ssplit-mode"] = "sentence"
service = bergamot.Service(bergamot.ServiceConfig(numWorkers=1, cacheSize=0, logLevel="off"))
model = service.modelFromConfig(yaml.safe_dump(settings))
options = bergamot.ResponseOptions(alignment=False, qualityScores=False, HTML=False)
for line in sys.stdin.read().split("\n")[:-1]:
    [response] = service.translate(model, bergamot.VectorString([line]), options)
    print(response.target.text)
