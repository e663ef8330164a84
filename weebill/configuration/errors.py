"""Error of a configuration, with one line for each fault."""

from weebill.errors import InputError


class ConfigurationError(InputError):
    """Error with all faults of a configuration; `errors` are the lines `ORIGIN: KEY.PATH: found, expected`."""

    def __init__(self, errors: list[str]):
        super().__init__("\n".join(errors))
        self.errors = errors
