"""Exports of finished students to the formats of other engines."""
