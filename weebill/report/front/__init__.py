"""First page of an experiment's report, one module for each kind of experiment: verdict, the table, examples."""
