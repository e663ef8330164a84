"""Tables of everything measured."""
