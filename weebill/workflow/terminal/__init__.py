"""Display of a run: what each job does, how far it is, and what to do after a failure."""
