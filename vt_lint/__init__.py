"""The face of vt-lint: command line and reporters. The only package that knows all the others."""

__version__ = "0.1.0"
