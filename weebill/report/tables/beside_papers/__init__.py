"""Declarations of tables that compare our results with the papers'."""
