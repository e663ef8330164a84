"""Training of teachers and students, and of students while pruning."""
