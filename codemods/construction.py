"""All markers of one construction together: what to carry, what to refuse, what to clear."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from codemods.spell import member
from rules.finding import Finding, Site


class CannotFixError(Exception):
    """No safe edit exists for this shape of code; the message says why, for the person who will do it by
    hand."""


class Refusal(msgspec.Struct, frozen=True):
    """Stop on `finding`'s marker unless one of the predicates `unless` holds (C++ text, empty: always): of the
    devices, or of a cut (then `cut` are the numbers it asks for)."""

    finding: Finding
    devices: tuple[str, ...]
    unless: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


class Construction(msgspec.Struct, frozen=True):
    """The findings of one construction. `source` is the C++ spelling of the carrier whose bytes these are,
    `renamed` the text in the construction that it replaces and `source`, once a temporary has been given a
    name. `cuts`: for a marker whose layout keeps rows together how many those are, and the C++ spelling of the
    numbers that all have to be multiples of that."""

    findings: tuple[Finding, ...]
    source: str
    renamed: tuple[str, str] = ("", "")
    cuts: dict[str, tuple[int, tuple[str, ...]]] = {}

    @property
    def site(self) -> Site:
        """The code around it, the same for all its findings."""
        site = self.findings[0].site
        assert site is not None
        return site

    @property
    def begin(self) -> int:
        """Offset of the construction's first byte."""
        return self.findings[0].place.begin

    @property
    def end(self) -> int:
        """Offset after the construction's last byte."""
        return self.findings[0].place.end

    def marker(self, name: str, carrier: str | None = None) -> str:
        """Spell marker `name` of the source, or of `carrier`."""
        if carrier is not None:
            return member(carrier, name)
        return member(self.source, name, self.site.member_op)

    @property
    def carried(self) -> tuple[str, ...]:
        """The markers to copy from the source, in order and once each; a part that keeps one has it already."""
        return tuple(
            dict.fromkeys(
                f.marker for f in self.findings if _action(f) in ("propagate", "both") and f.rule != "VT003"
            )
        )

    @property
    def cleared(self) -> tuple[str, ...]:
        """The markers to set to false."""
        return tuple(dict.fromkeys(f.marker for f in self.findings if _action(f) == "clear"))

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The markers to stop on. One that is carried too is refused only off the devices that honour it.

        Raises `CannotFixError` if that needs a device predicate that cannot be spelled here."""
        result = []
        for name in dict.fromkeys(f.marker for f in self.findings if _action(f) in ("refuse", "both")):
            own = [f for f in self.findings if f.marker == name]
            finding = next(f for f in own if _action(f) in ("refuse", "both"))
            off = tuple(sorted({d for f in own for d in _refused(f)}))
            unless: tuple[str, ...] = ()
            cut: tuple[str, ...] = ()
            if _action(finding) == "both" and not off:
                size, cut = self._cut(name)
                tests = " && ".join(f"{number} % {size} == 0" for number in cut)
                unless = (f"({tests})" if len(cut) > 1 else tests,)
            elif name in self.carried:
                unless = self._tests(own, off)
            result.append(Refusal(finding, off, unless, cut))
        return tuple(result)

    def _cut(self, name: str) -> tuple[int, tuple[str, ...]]:
        size, numbers = self.cuts.get(name, (0, ()))
        if not numbers:
            raise CannotFixError(
                f"{name} survives a cut at whole row groups, and the rows cannot be spelled here"
            )
        return size, numbers

    def _tests(self, own: Sequence[Finding], off: Sequence[str]) -> tuple[str, ...]:
        tests = dict(self.site.device_tests)
        honouring = sorted({d for f in own for d in f.devices} - set(off))
        missing = [d for d in honouring if d not in tests]
        if missing or not honouring:
            raise CannotFixError(
                f"{own[0].marker} has to be refused on {', '.join(off)} alone, and no test for "
                f"{', '.join(missing) or 'the other devices'} can be spelled here"
            )
        return tuple(tests[d] for d in honouring)


def _action(finding: Finding) -> str:
    assert finding.fix is not None
    return finding.fix.action


def _refused(finding: Finding) -> tuple[str, ...]:
    assert finding.fix is not None
    if finding.fix.action == "both":
        return finding.fix.refuse_devices
    return finding.devices if finding.fix.action == "refuse" else ()
