"""Findings in, edits out: edits are data, and `codemods.apply` is the only writer."""
