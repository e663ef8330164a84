"""Quality of models and metrics: scores with intervals and significance."""
