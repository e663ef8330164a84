"""Model folders in the runtime: choice of the precision, and damaged folders."""

import pytest

from weebill.errors import InputError
from weebill.files import write_json
from weebill.runtime.text import load_runtime, of_precision
from weebill.translation.model.folder import FORMAT


@pytest.mark.parametrize(
    ("quantization", "found"),
    [({}, "float32"), ({"quantization": {"grid": "int8"}}, "int8")],
)
def test_the_precision_of_a_model_folder(tmp_path, quantization, found):
    write_json(tmp_path / "model" / "config.json", {"format": FORMAT, **quantization})
    for precision in (None, found, "model"):
        assert of_precision(tmp_path / "model", precision) == tmp_path / "model"
    with pytest.raises(InputError, match=f"a model in {found}, not log4"):
        of_precision(tmp_path / "model", "log4")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (["list"], "format None"),
        ("string", "format None"),
        (None, "format None"),
        ({"format": FORMAT, "quantization": "int8"}, "damaged"),
        ({"format": FORMAT, "quantization": ["int8"]}, "damaged"),
        ({"format": FORMAT, "quantization": None}, "damaged"),
    ],
)
@pytest.mark.parametrize("precision", [None, "int8"])
def test_loading_says_what_is_wrong_with_a_damaged_configuration(
    tmp_path, config, message, precision
):
    write_json(tmp_path / "config.json", config)
    with pytest.raises(InputError, match=rf"config\.json: {message}"):
        load_runtime(of_precision(tmp_path, precision))
