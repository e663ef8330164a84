"""First page of an experiment's report (verdict, table, examples), in a module for each kind of experiment."""
