"""Reporters: a module for each format, each with `render(outcome) -> str`."""
