"""Tables that compare our results with the papers', one declaration for each."""
