"""Settings of the three kinds of experiments and of the zoo: frozen dataclasses with the meaning of each key."""
