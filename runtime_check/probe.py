"""Probes: which cases to run, and the C++ that runs them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from typing import Final

from runtime_check.call import CannotCallError, Signatures, on_device, spell
from runtime_check.evidence import plain
from runtime_check.model import Case, Cut, Expected, Group, HelperUnderTest, Target
from runtime_check.profile import Arm, Marker, Profile, ProfiledHelper, target_config

# (rows, columns): many blocks, one block, odd rows, rows not a multiple of four
_WEIGHTS: Final = ((64, 256), (12, 32), (33, 64), (66, 96))
_BATCHES: Final = (1, 3, 8, 64)
# Linear layers of 8-billion-parameter decoders (hidden 4096, MLP 12288 and 14336): Qwen3-8B and Llama-3.1-8B
# config.json, hidden_size and intermediate_size.
_TIMED_WEIGHTS: Final = ((4096, 4096), (12288, 4096), (14336, 4096), (4096, 12288))
_TIMED_BATCHES: Final = (1, 8, 512)


@dataclass(frozen=True)
class ProbeUnit:
    """One probe program: the helpers of one header or source.

    Attributes:
        name: file-name-safe identity.
        include: header or source it includes, relative to the tree or its include folders.
        groups: indices of the groups it can run.
        source: C++ text.
        timed: groups that it can also time.
    """

    name: str
    include: str
    groups: tuple[int, ...]
    source: str
    timed: tuple[int, ...]

    def groups_at(self, lines: Collection[int]) -> frozenset[int]:
        """The groups whose code is on ``lines`` of the source; all of them where one line is of no group."""
        found = set()
        for wanted in lines:
            text = "\n".join(self.source.splitlines()[:wanted])
            starts = re.findall(r"^static void group_(\d+)\(", text, re.M)
            if not starts or re.search(r"^}  // namespace vt_probe", text, re.M):
                return frozenset(self.groups)
            found.add(int(starts[-1]))
        return frozenset(found or self.groups)


@dataclass(frozen=True)
class Plan:
    """The probes of one target."""

    groups: tuple[Group, ...]
    units: tuple[ProbeUnit, ...]
    not_probed: tuple[str, ...]


def plan(
    profile: Profile,
    helpers: Iterable[HelperUnderTest],
    target: Target,
    timing: bool,
    signatures: Signatures,
    left_out: Mapping[tuple[str, str], str],
) -> Plan:
    """Derive groups and programs from the profile and from ``helpers`` (findings), which override it.

    A call that the profile does not spell is made from the helper's signature. ``left_out``: reason by path and
    name for each helper that such a call turned out not to compile for.
    """
    config = target_config(profile, target)
    groups: list[Group] = []
    made = 0
    bodies: dict[str, list[tuple[int, str]]] = {}
    timed: dict[str, list[int]] = {}
    timed_markers: set[str] = set()
    skipped: list[str] = []
    for entry in _merge(profile, helpers):
        where = f"{entry.helper.name} ({entry.helper.path})"
        unused = left_out.get((entry.helper.path, entry.helper.name), "")
        if unused:
            skipped.append(f"{where}: {unused}")
        count = made
        for arm_name in entry.arms:
            arm = profile.arms[arm_name]
            if target not in arm.targets:
                continue
            for marker_name, by_device in sorted(entry.helper.expect.items()):
                expected = by_device.get(arm.device)
                marker = profile.markers.get(marker_name)
                if expected is None:
                    continue
                if marker is None:
                    skipped.append(
                        f"{entry.helper.name}: marker '{marker_name}' has no [verify.marker] table"
                    )
                    continue
                if target not in marker.targets:
                    continue
                try:
                    call = entry.call or spell(entry.helper, profile, arm, signatures)
                except CannotCallError as reason:
                    skipped.append(f"{where}: {reason}")
                    break
                if expected != "refused" and not arm.gemm:
                    skipped.append(
                        f"{entry.helper.name}: {marker_name} on {arm.device} is carried, and arm "
                        f"'{arm.name}' cannot multiply; use a target with that device"
                    )
                    continue
                # One that is left out keeps its number, so that the text of the other probes stays.
                made += 1
                if unused:
                    continue
                group = Group(
                    index=made - 1,
                    path=entry.helper.path,
                    helper=entry.helper.name,
                    marker=marker_name,
                    arm=arm.name,
                    device=arm.device,
                    expected=expected,
                    faulty_before=arm.device in entry.helper.faulty.get(marker_name, frozenset())
                    if entry.helper.faulty
                    else None,
                    decided_by_gemm=arm.gemm,
                    derived=not entry.call,
                    cases=_cases(entry, marker, arm, expected, call),
                    unfixed=marker_name in entry.helper.unfixed,
                )
                groups.append(group)
                with_timing = (
                    timing
                    and target == "cuda"
                    and bool(config.stream)
                    and expected == "carried"
                    and entry.row0 + entry.row_tail == 0
                    # The same kernels answer every helper, so one is enough.
                    and marker_name not in timed_markers
                )
                moved = on_device(profile, arm, signatures)
                text = _group_source(
                    profile, marker, arm, group, call, moved, config.stream if with_timing else ""
                )
                bodies.setdefault(entry.include, []).append((group.index, text))
                if with_timing:
                    timed_markers.add(marker_name)
                    timed.setdefault(entry.include, []).append(group.index)
        if made == count and not any(s.startswith(entry.helper.name) for s in skipped):
            skipped.append(f"{entry.helper.name}: no marker of it can be decided on target {target}")
    units = tuple(
        ProbeUnit(
            name=_unit_name(include),
            include=include,
            groups=tuple(i for i, _ in found),
            source=_unit_source(profile, include, found, timed.get(include, [])),
            timed=tuple(timed.get(include, [])),
        )
        for include, found in bodies.items()
    )
    return Plan(tuple(groups), units, tuple(dict.fromkeys(skipped)))


def _merge(profile: Profile, helpers: Iterable[HelperUnderTest]) -> list[ProfiledHelper]:
    merged = {(plain(h.helper.name), h.helper.path): h for h in profile.helpers}
    for helper in helpers:
        key = (plain(helper.name), helper.path)
        known = merged.get(key)
        if known is None and not helper.expect:
            continue
        if known is None:
            merged[key] = ProfiledHelper(helper, "", helper.path, 0, 0, tuple(profile.arms))
            continue
        expect = {
            marker: {**known.helper.expect.get(marker, {}), **helper.expect.get(marker, {})}
            for marker in {*known.helper.expect, *helper.expect}
        }
        faulty = {
            marker: known.helper.faulty.get(marker, frozenset()) | helper.faulty.get(marker, frozenset())
            for marker in {*known.helper.faulty, *helper.faulty}
        }
        unfixed = known.helper.unfixed | helper.unfixed
        combined = replace(helper, expect=expect, faulty=faulty, unfixed=unfixed)
        merged[key] = replace(known, helper=combined)
    return list(merged.values())


def _cases(
    entry: ProfiledHelper, marker: Marker, arm: Arm, expected: Expected, call: str
) -> tuple[Case, ...]:
    parts = _parts(entry, marker, expected, call)
    cases = []
    for n, k in _WEIGHTS:
        for row0, row_tail, cut in parts:
            if n <= row0 + row_tail:
                continue
            for m in _BATCHES if (n, k) == _WEIGHTS[0] else _BATCHES[:2]:
                name = f"{entry.helper.name.rsplit('::', 1)[-1]}/{marker.name}/{arm.name}/m{m}-n{n}-k{k}"
                if len(parts) > 1:
                    name += f"-rows{row0}to{n - row_tail}"
                seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
                cases.append(Case(name, m, n, k, seed, n % marker.row_group != 0, row0, row_tail, cut))
    return tuple(cases)


def _parts(
    entry: ProfiledHelper, marker: Marker, expected: Expected, call: str
) -> tuple[tuple[int, int, Cut], ...]:
    """The parts of a weight to show, as rows left out at its begin and end: what the profile says, or where cuts are
    told apart one of whole row groups, and those with each end inside of a group that ``call`` can name."""
    group, half = marker.row_group, marker.row_group // 2
    if expected != "whole groups" or not half:
        return ((entry.row0, entry.row_tail, ""),)
    row0, row_tail = (-(-rows // group) * group for rows in (entry.row0, entry.row_tail))
    named = re.search(r"\brow0\b", call) is not None
    if named:
        row0 = row0 or group
    parts: list[tuple[int, int, Cut]] = [(row0, row_tail, "")]
    if named:
        parts.append((row0 - half, row_tail + half, "start"))
    if re.search(r"\brows\b", call):
        parts.append((row0, row_tail + half, "end"))
    return tuple(parts)


def _template(name: str) -> str:
    return (resources.files("runtime_check") / "templates" / name).read_text(encoding="utf-8")


def _fill(template: str, values: Mapping[str, str]) -> str:
    return re.sub(r"@([A-Z_0-9]+)@", lambda m: values.get(m.group(1), m.group(0)), template)


def _rows(cases: Iterable[Case]) -> str:
    return "\n".join(
        f'    {{"{c.id}", {c.m}, {c.n}, {c.k}, {c.seed}ull, {c.row0}, {c.row_tail}}},' for c in cases
    )


def _group_source(
    profile: Profile, marker: Marker, arm: Arm, group: Group, call: str, moved: str, stream: str
) -> str:
    kind = profile.kinds[marker.kind]
    values = {
        "INDEX": str(group.index),
        "CASES": _rows(group.cases),
        "SETUP": arm.setup.strip(),
        "DTYPE": kind.dtype,
        "UPLOAD": arm.upload,
        "DOWNLOAD": arm.download,
        "UPLOADED": arm.uploaded,
        "MAKE_WEIGHT": profile.make_weight.strip().rstrip(";"),
        "MAKE_VIEW": profile.make_view,
        "ELIGIBLE": marker.eligible,
        "REWRITE": marker.rewrite,
        "MARKER": marker.name,
        "CALL": call,
        "ON_DEVICE": moved,
        "GEMM": kind.gemm if arm.gemm else "(void)a; (void)out; (void)b",
        "HAS_GEMM": "true" if arm.gemm else "false",
        "KIND": kind.name,
        "STREAM": stream,
        "TIMING": "",
    }
    if stream:
        shapes = [
            Case(f"{group.helper}/{group.marker}", m, n, k, n * 31 + k, False)
            for n, k in _TIMED_WEIGHTS
            for m in _TIMED_BATCHES
        ]
        values["TIMING"] = _fill(_template("timing.cpp.in"), {**values, "SHAPES": _rows(shapes)})
    return _fill(_template("group.cpp.in"), values)


def _unit_name(include: str) -> str:
    stem = re.sub(r"\W+", "_", include.rsplit("/", 1)[-1])
    return f"{stem}_{hashlib.sha256(include.encode()).hexdigest()[:8]}"


def _unit_source(profile: Profile, include: str, groups: list[tuple[int, str]], timed: list[int]) -> str:
    # The helper's own file comes first: a source file must see the preamble that it sees in its own build.
    includes = "\n".join(f'#include "{name}"' for name in (include, *profile.includes))
    switch = "\n".join(
        [f"      case {i}: vt_probe::group_{i}(false); break;" for i, _ in groups]
        + [f"      case {1000 + i}: vt_probe::group_{i}(true); break;" for i in timed]
    )
    return _fill(
        _template("probe.cpp.in"),
        {
            "INCLUDES": includes,
            "PRELUDE": profile.prelude,
            "WEIGHT": profile.weight,
            "VIEW": profile.view,
            "EXCEPTION": profile.exception,
            "GROUPS": "\n".join(text for _, text in groups),
            "SWITCH": switch,
        },
    )
