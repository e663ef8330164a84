"""The fast translator of a finished student on CPUs."""
