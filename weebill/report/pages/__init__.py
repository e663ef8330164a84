"""Pages of Markdown that hold an experiment's tables and figures."""
