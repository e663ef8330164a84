"""Settings of metric trainings, read in the environment `comet`."""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def test_they_need_the_standard_library_alone():
    code = "import weebill.metric.settings as s; print(s.RegressionSettings().epochs)"
    bare = [sys.executable, "-S", "-c", code]  # without site-packages
    done = subprocess.run(bare, capture_output=True, text=True, cwd=REPOSITORY, env={})
    assert done.stdout == "5\n", done.stderr
