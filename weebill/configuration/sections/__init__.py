"""Settings of the three kinds of experiment and of the zoo: frozen dataclasses with the meaning of each key."""
