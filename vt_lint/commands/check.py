"""`vt-lint check`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vt_lint.tree import evidence_option, locate, tree_option

if TYPE_CHECKING:
    from rules.finding import Severity
    from vt_lint.outcome import Outcome


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@tree_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
)
@click.option("--baseline", type=click.Path(path_type=Path), help="Accept the findings that FILE lists.")
@click.option("--since", metavar="REV", default="", help="Report only what git revision REV does not have.")
@evidence_option
@click.option("--marker", "markers", multiple=True, metavar="M", help="Only this marker. May be repeated.")
@click.option("--profile", "profiles", multiple=True, metavar="P", help="Only this preprocessor profile.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes. Default: one a core.")
@click.option(
    "--fail-on", type=click.Choice(["error", "warning", "note"]), default="warning", show_default=True
)
@click.option(
    "--show",
    type=click.Choice(["warning", "note"]),
    help="The least severity that text lists; the other formats hold all. Default: warning, or note "
    "where that fails.",
)
@click.option("--shard", metavar="I/N", default="", help="Only make the facts of the I-th of N parts.")
@click.option(
    "--facts",
    type=click.Path(dir_okay=False, path_type=Path),
    help="With --shard, write them to FILE for `vt-lint merge`. Default: into the cache only.",
)
@click.option(
    "--dask", metavar="ADDRESS", default="", help="Parse on the Dask cluster whose scheduler is there."
)
@click.option("--stats", is_flag=True, help="Show the time of each phase, and counts.")
@click.option("--no-cache", is_flag=True, help="Neither use nor fill the cache of facts.")
def check(
    paths: tuple[Path, ...],
    tree: Path | None,
    form: str,
    baseline: Path | None,
    since: str,
    evidence: tuple[Path, ...],
    markers: tuple[str, ...],
    profiles: tuple[str, ...],
    jobs: int | None,
    fail_on: str,
    show: str | None,
    shard: str,
    facts: Path | None,
    dask: str,
    stats: bool,
    no_cache: bool,
) -> int:
    """Find the places in PATHs, or in the whole tree, where a storage-layout marker is lost."""
    from vt_lint.exit import Exit, Fault

    if no_cache and (shard or dask):
        raise Fault("--no-cache: facts that are made elsewhere come through the cache")
    if bool(facts) and not shard:
        raise Fault("--facts is for --shard")
    if shard and (paths or since or baseline):
        raise Fault("--shard makes facts only: check PATHs, --since and --baseline after `vt-lint merge`")
    if shard or dask:
        from vt_lint.parts import gather, parse_shard, write_facts

        root, _ = locate(tree, paths)
        part = parse_shard(shard) if shard else None
        made = gather(root, shard=part, jobs=jobs, profiles=profiles, dask=dask)
        if shard:
            if facts:
                write_facts(root, facts)
            where = str(facts) if facts else "the cache"
            click.echo(f"part {shard} of {made.files} files: {len(made.parsed)} parses, facts in {where}")
            return Exit.OK
    from rules.finding import Severity
    from vt_lint.checking import Request, outcome
    from vt_lint.outcome import closing_line

    root, inside = locate(tree, paths)
    result = outcome(
        Request(root, inside, profiles, jobs, not no_cache),
        fail_on=Severity(fail_on),
        markers=frozenset(markers),
        accepted=baseline,
        since=since,
        evidence=evidence,
    )
    click.echo(_rendered(form, result, Severity(show or ("note" if fail_on == "note" else "warning"))))
    if form != "text":
        for note in result.evidence:
            click.echo(f"note: {note}", err=True)
    if form in ("json", "sarif"):
        click.echo(closing_line(result), err=True)
    if stats:
        for phase, seconds in result.report.seconds.items():
            click.echo(f"{phase:20} {seconds:10.2f} s", err=True)
        for name, value in result.report.stats.items():
            click.echo(f"{name:20} {value:10.2f}", err=True)
    return result.exit_code


def _rendered(form: str, result: Outcome, show: Severity) -> str:
    if form == "text":
        from vt_lint.report import text

        return text.render(result, show=show, colour=sys.stdout.isatty() and not os.environ.get("NO_COLOR"))
    if form == "json":
        from vt_lint.report import json

        return json.render(result)
    if form == "sarif":
        from vt_lint.fixing import edits
        from vt_lint.report import sarif

        return sarif.render(result, edits(result.report, result.root))
    from vt_lint.report import github

    return github.render(result)
