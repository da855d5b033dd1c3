"""Bytes of a weight are read, copied out or handed to a kernel as plain, whatever its markers say.

## What it does
Follows pointers to a carrier's bytes into decoders, gathers, copies to records without markers, uploads and kernels
that get a raw pointer, and asks whether each marker is known to be false there. An upload is reported only beside a
view over the uploaded bytes that loses the marker. A test of the dtype on the way, by whatever predicate, rules out the
markers whose rewrite never meets the dtypes that it lets through.

## Why is this bad?
No view is built, so nothing carries the marker: the values come out finite, plausible and wrong.

## Example
```cpp
std::vector<float> floats(const OwnedTensor& w) {
  DecodeRows(w.bytes.data(), w.dtype, n, out.data());
}
```

## Use instead
```cpp
VT_CHECK(!w.repacked && !w.q8_0_aligned && !w.elem_kn_repacked, "plain bytes only");
DecodeRows(w.bytes.data(), w.dtype, n, out.data());
```

## Fix safety
Safe: the check fires only for a marked weight.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.domain import Path
from rules.analysis import READS, Analysis, Draft, Group
from rules.finding import Verdict

CODE = "VT007"
NAME = "bytes-read-blind"
SUMMARY = "a decoder, gather, copy-out, memcpy or raw-pointer kernel reads marked bytes as plain"
FIXABLE = True


def check(analysis: Analysis) -> Iterator[Draft]:
    """Yield a draft for each marker nobody looks at before the bytes are read."""
    lost: dict[tuple[str, Path, str], list[frozenset[str]]] = {}
    made, copied = set(), set()
    for obligation in analysis.facts.obligations.values():
        if obligation.site.form not in READS:
            made.add((obligation.site.function, obligation.source))
        elif obligation.site.form in ("copy-bytes", "upload"):
            copied.add((obligation.site.function, obligation.source))
    for group in analysis.groups:
        if not group.is_read and group.outcome in ("dropped", "missing"):
            key = (group.site.function, group.source, group.marker)
            lost.setdefault(key, []).append(group.devices)
    seen: set[tuple[object, ...]] = set()
    for group in analysis.groups:
        if not group.is_read or group.outcome not in ("dropped", "missing"):
            continue
        latent, action = "", "refuse"
        if group.site.form == "pointer":
            if (group.site.function, group.source) not in copied or (
                group.site.function,
                group.source,
            ) in made:
                continue  # an accessor: whoever uses the pointer answers for it
            latent = "right only if whoever gets the pointer has the marker from elsewhere"
        elif group.site.form == "copyout" and group.site.span == group.site.statement:
            if analysis.facts.callers.get(group.site.function):
                continue  # whoever gets the copy answers for it
        elif group.site.form == "typed" and _is_accessor(analysis, group):
            continue
        if group.site.form in ("copy-bytes", "upload"):
            if group.site.form == "upload" and (group.site.function, group.source) not in made:
                latent = "right only if every view over the copy carries the marker"
            elif not any(
                d & group.devices for d in lost.get((group.site.function, group.source, group.marker), ())
            ):
                continue
            elif group.devices & analysis.honours(group.marker):
                latent, action = "the view over the copy is to carry it", "display"
        elif analysis.is_tested(group):
            continue  # VT004's, or resolved
        if is_consumer(analysis, group):
            continue  # VT009's
        if (
            group.site.function,
            group.source,
            group.marker,
        ) in analysis.facts.carried_by_call and group.site.callee:
            latent = "a view made over it here carries the marker"
        what = group.site.form if group.site.form in ("copy-bytes", "upload", "pointer") else "read"
        if (group.site.function, group.source, group.marker, what) in seen:
            continue  # one finding a reader, at its first read
        seen.add((group.site.function, group.source, group.marker, what))
        source = analysis.name_of(group.source)
        verbs = {
            "copyout": "copied out", "copy-bytes": "copied", "upload": "uploaded", "into": "stored without markers",
            "typed": "taken as values", "pointer": "handed out bare",
        }  # fmt: skip
        verb = verbs.get(group.site.form, "read")
        callee = f" by {group.site.callee}" if group.site.callee else ""
        yield analysis.draft(
            CODE,
            group,
            f"bytes of {source} are {verb}{callee} as plain; {group.marker} is not refused",
            action=action,
            latent=latent,
        )


def _is_accessor(analysis: Analysis, group: Group) -> bool:
    """A method of the carrier that gives its own storage as a typed pointer."""
    function = analysis.program.function(group.site.function)
    return function is not None and function.owner == group.source_type and group.source == ("this",)


def is_consumer(analysis: Analysis, group: Group) -> bool:
    """The reader of a view that branches on some other marker of it: a kernel that knows of markers."""
    carrier = analysis.program.carriers.get(group.source_type)
    if carrier is None or not carrier.view:
        return False
    known = analysis.facts.tests.get(group.site.function, set())
    return any(source == group.source and marker != group.marker for source, marker in known)


def is_live(verdict: Verdict) -> bool:
    """Worth reporting for a view parameter, of which kernels have thousands."""
    return verdict is not Verdict.DEAD
