"""`python -m vt_lint`."""

from vt_lint.cli import main

main()
