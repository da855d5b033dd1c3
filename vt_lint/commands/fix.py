"""`vt-lint fix`."""

from __future__ import annotations

import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vt_lint.tree import evidence_option, locate, tree_option

if TYPE_CHECKING:
    from codemods.fix import FixPlan
    from rules.finding import Finding, Report


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path), metavar="[PATH]...")
@tree_option
@click.option("--apply", "write", is_flag=True, help="Write the files instead of printing the patch.")
@click.option("--unsafe", is_flag=True, help="Also what may change the behaviour of unmarked weights.")
@click.option("--latent", is_flag=True, help="Also where no marked weight gets to today (notes).")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="MARKER:DEVICE=ACTION",
    help="Overrule a decision: ACTION is propagate or refuse, DEVICE may be *.",
)
@evidence_option
@click.option("--patch", type=click.Path(dir_okay=False, path_type=Path), help="Write the patch to FILE.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes. Default: one a core.")
def fix(
    paths: tuple[Path, ...],
    tree: Path | None,
    write: bool,
    unsafe: bool,
    latent: bool,
    policies: tuple[str, ...],
    evidence: tuple[Path, ...],
    patch: Path | None,
    jobs: int | None,
) -> int:
    """Print the patch that carries or refuses each lost marker in PATHs or in the whole tree, or apply it."""
    from codemods.fix import describe
    from codemods.policy import parse_policies
    from rules.finding import Severity
    from vt_lint.checking import Request, recorded, report
    from vt_lint.fixing import Texts, holds, marked, planned, proved, write_fix

    overrides = parse_policies(policies)
    root, inside = locate(tree, paths)
    request = Request(root, inside, jobs=jobs, policy=overrides)
    records = recorded(root, evidence)
    found = report(request)
    plans: tuple[FixPlan, ...] = (planned(found, root, unsafe=unsafe, latent=latent),)
    texts = Texts(root)
    candidates = [("vt-lint fix", plans[0])]
    if records and not latent:
        candidates.append(("vt-lint fix --latent", planned(found, root, unsafe=unsafe, latent=True)))
    (marks, *_), notes = proved(texts, candidates, records)
    if write:
        found, plans = write_fix(lambda: report(request), root, unsafe=unsafe, latent=latent)
        # Several passes may have written more than was built.
        written = [record for record in records if holds(record, Texts(root))]
        (marks, *_), _ = proved(texts, candidates, written)
    text = b"".join(p.patch for p in plans)
    if patch:
        patch.write_bytes(text)
    elif not write:
        sys.stdout.buffer.write(text)
    for finding in (f for p in plans for f in marked(p.fixed, marks)):
        click.echo(describe(finding), err=True)
    for note in notes:
        click.echo(f"note: {note}", err=True)
    unfixed = 0
    for skipped in plans[-1].skipped:
        if all(f.severity is Severity.NOTE for f in skipped.findings):
            unfixed += len(skipped.findings)
        else:
            click.echo(str(skipped), err=True)
    if unfixed:
        click.echo(f"{unfixed} latent findings have no safe fix: see `vt-lint check --show note`", err=True)
    return _exit_code(found, () if write else plans[0].fixed)


def _exit_code(found: Report, fixed: Collection[Finding]) -> int:
    """Return what is left once `fixed` is: a finding at warning or above counts as in `check`."""
    from rules.finding import Severity
    from vt_lint.exit import Exit

    if found.coverage.unanalysed:
        return Exit.UNANALYSED
    done = {f.fingerprint for f in fixed}
    left = [
        f
        for f in found.findings
        if f.severity is not Severity.NOTE and not f.suppressed and f.fingerprint not in done
    ]
    return Exit.FINDINGS if left else Exit.OK
