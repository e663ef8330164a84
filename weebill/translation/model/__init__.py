"""The network of students and teachers, its parts, and its folder on disk."""
