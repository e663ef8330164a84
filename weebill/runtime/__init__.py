"""Fast translation by finished students on CPUs."""
