"""`vt-lint verify`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from vt_lint.tree import locate, tree_option

if TYPE_CHECKING:
    from analyzer.ir import FileFacts
    from rules.finding import Finding


@click.command()
@tree_option
@click.option(
    "--target",
    type=click.Choice(["i8mm", "cuda", "cpu"]),
    default="i8mm",
    show_default=True,
    help="Whose kernels to run. i8mm is emulated where this machine is no such Arm.",
)
@click.option("--before", metavar="REV", help="Compare git revision REV with the working tree.")
@click.option(
    "--patch",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Compare the working tree with and without FILE: each function that it fixes is probed. Default: "
    "what `vt-lint fix --latent` would change.",
)
@click.option(
    "--helper",
    "names",
    multiple=True,
    metavar="NAME",
    help="Also probe the functions called NAME, of which the honours matrix says what they have to do.",
)
@click.option(
    "--verify-config",
    "profile",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with the [verify] table. Default: .vt-lint.toml at the root of the tree.",
)
@click.option("--bundle", type=click.Path(path_type=Path), help="Write programs to run elsewhere to DIR.")
@click.option(
    "--collect",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Judge FILE, the results of a bundle.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "html", "markdown"]),
    default="text",
    show_default=True,
)
@click.option(
    "--work", type=click.Path(path_type=Path), help="Folder for all that is built. Default: a cache."
)
@click.option("--no-timing", is_flag=True, help="Do not time the plain and the marked layout (cuda).")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Parallel compilers. Default: one a core.")
def verify(
    tree: Path | None,
    target: Literal["i8mm", "cuda", "cpu"],
    before: str | None,
    patch: Path | None,
    names: tuple[str, ...],
    profile: Path | None,
    bundle: Path | None,
    collect: Path | None,
    form: str,
    work: Path | None,
    no_timing: bool,
    jobs: int | None,
) -> int:
    """Build the tree before and after the fix, run its GEMMs, and compare.

    Nothing but the probes and what they need is built, and nothing is written outside of the work folder.
    """
    import runtime_check
    from analyzer.config import load
    from rules.matrix import matrix
    from vt_lint.checking import Request, report, report_of
    from vt_lint.exit import Fault
    from vt_lint.fixing import planned
    from vt_lint.probing import facts, fixed_by, helpers, named, twins, unfixed

    if before and patch:
        raise Fault("--before and --patch name two different comparisons: give one of them")
    root, _ = locate(tree, ())
    request = Request(root, jobs=jobs)
    faults: Iterable[Finding] = ()
    found: Iterable[Finding] = ()
    known: tuple[FileFacts, ...] = ()
    fixed: dict[str, bytes] = {}
    left: tuple[runtime_check.HelperUnderTest, ...] = ()
    if not collect:
        checked = report_of(request, before) if before else report(request)
        found = faults = checked.findings
        known = facts(root, jobs)
        if patch:
            faults = fixed_by(patch.read_bytes(), found, known, root)
        elif not before:
            # Latent losses too: a probe sets the marker itself.
            plan = planned(checked, root, latent=True)
            faults = plan.fixed
            left = unfixed(plan.skipped)
            fixed = {Path(p).relative_to(root).as_posix(): text for p, text in plan.files.items()}
    asked: tuple[runtime_check.HelperUnderTest, ...] = ()
    if names and not collect:
        asked = named(names, known, matrix(root, config=load(root), jobs=jobs).policy)
    options = runtime_check.VerifyOptions(
        tree=root,
        target=target,
        work=work or _cache() / root.name,
        config=profile,
        helpers=(*asked, *twins(found, known), *left, *helpers(faults)),
        facts=known,
        before_rev=before,
        patch=patch,
        after_files=fixed,
        bundle=bundle,
        collect=collect,
        jobs=jobs or os.cpu_count() or 1,
        timing=not no_timing,
    )
    result = runtime_check.verify(options, progress=lambda line: click.echo(line, err=True))
    render = {
        "text": runtime_check.render_text,
        "json": runtime_check.render_json,
        "markdown": runtime_check.render_markdown,
        "html": runtime_check.render_html,
    }[form]
    click.echo(render(result), nl=False)
    return result.exit_code


def _cache() -> Path:
    """Return the folder of this user's caches (XDG Base Directory Specification)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vt-lint" / "verify"
