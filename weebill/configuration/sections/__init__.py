"""Settings of the three kinds of experiment and of the zoo: frozen dataclasses of their keys and what each means."""
