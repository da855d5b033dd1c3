"""`vt-lint explain`."""

from __future__ import annotations

import click


@click.command()
@click.argument("code")
def explain(code: str) -> None:
    """Explain rule CODE (VT001, or its name): what it finds, why that is bad, and what to write instead."""
    from rules.registry import RULES
    from vt_lint.exit import Fault

    for rule in RULES:
        if code.casefold() in (rule.code.casefold(), rule.name):
            click.echo(f"{rule.code} {rule.name}: {rule.summary}\n\n{rule.doc.strip()}")
            return
    raise Fault(f"{code}: no such rule; there are {', '.join(rule.code for rule in RULES)}")
