"""Network of students and teachers, with its parts and its folder on disk."""
