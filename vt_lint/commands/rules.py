"""`vt-lint rules`."""

from __future__ import annotations

from pathlib import Path

import click

from vt_lint.tree import locate, tree_option


@click.group(invoke_without_command=True)
@click.option("--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text")
@click.pass_context
def rules(ctx: click.Context, form: str) -> None:
    """List the rules, or add a marker to them."""
    if ctx.invoked_subcommand is None:
        click.echo(listing(form))


def listing(form: str) -> str:
    """Return all rules as `text`, as a `markdown` table or as `json`."""
    from rules.registry import RULES

    if form == "json":
        import json

        rows = [{"code": r.code, "name": r.name, "summary": r.summary, "fixable": r.fixable} for r in RULES]
        return json.dumps(rows, indent=1)
    if form == "markdown":
        head = ["| code | name | fires when | fix |", "|---|---|---|---|"]
        body = [f"| {r.code} | {r.name} | {r.summary} | {'yes' if r.fixable else ''} |" for r in RULES]
        return "\n".join(head + body)
    width = max(len(r.name) for r in RULES)
    return "\n".join(f"{r.code}  {r.name:{width}}  {r.summary}" for r in RULES)


@rules.command("add-marker")
@click.argument("name")
@tree_option
@click.option("--what", default="", metavar="TEXT", help="The rewrite of the bytes, in one line.")
@click.option(
    "--device", "devices", multiple=True, metavar="D", help="Where a kernel reads it. May be repeated."
)
@click.option(
    "--checkout",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Source checkout of vt-lint to change. Default: this folder.",
)
def add_marker(name: str, tree: Path | None, what: str, devices: tuple[str, ...], checkout: Path) -> None:
    """Declare the marker NAME, which VT010 found in the tree, in a source checkout of vt-lint.

    Without --device, a check of the tree says which devices read it.
    """
    from codemods.add_marker import add_marker as declare
    from vt_lint.checking import Request, report
    from vt_lint.exit import Fault

    if not devices:
        root, _ = locate(tree, ())
        found = [f for f in report(Request(root)).findings if f.rule == "VT010" and f.marker == name]
        if not found:
            raise Fault(
                f"{name}: VT010 finds no such undeclared marker in {root}; name its kernels with --device"
            )
        devices = tuple(sorted({device for f in found for device in f.devices}))
    for path in declare(name, checkout, what=what, devices=devices or ("cpu",)):
        click.echo(path)
