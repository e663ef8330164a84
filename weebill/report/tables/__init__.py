"""Tables of all measurements."""
