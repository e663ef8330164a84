"""Which heads and neurons go, and cutting them out, whatever the model family."""
