"""Policy: the markers, and one file per rule. Sees frozen facts, never a cursor."""
