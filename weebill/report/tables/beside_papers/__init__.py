"""Tables beside the papers', one declaration for each."""
