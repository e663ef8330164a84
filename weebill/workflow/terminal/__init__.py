"""Display of a run: task and progress of each job, and what to do after a failure."""
