"""Configurations of experiments: read strictly, checked as a whole, completed with defaults, estimated."""
