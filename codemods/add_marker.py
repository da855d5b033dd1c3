"""Declare a new marker in a source checkout of vt-lint: `rules/markers.py` and a snippet to start from."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import libcst as cst
from libcst.codemod import CodemodContext, VisitorBasedCodemodCommand

from codemods import apply
from codemods.edit import Edit, digest

_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_MARKERS = Path("rules/markers.py")
_SNIPPETS = Path("samples/rules/VT001")
_SNIPPET = """\
// {name}: lost by the first function, carried by the second. Put the shape that was met in their place.
#include "prelude.h"

View Lost(const Weight& w, const Dims& dims) {{
  return ViewOver(HostBytes(w), w.dtype, Device::kCPU, dims);  // want VT001 {name}
}}

// ok
View Carried(const Weight& w, const Dims& dims) {{
  View t = ViewOver(HostBytes(w), w.dtype, Device::kCPU, dims);
  t.{name} = w.{name};
  return t;
}}
"""


class AddMarkerError(Exception):
    """The marker cannot be added; the message is one line naming the file and the remedy."""


class AddMarkerCommand(VisitorBasedCodemodCommand):
    """Add `Marker(name=..., what=..., devices=(...))` to the tuple `MARKERS`, which stays sorted by name.

    A marker that is already declared leaves the file as it is. `found` tells whether the tuple was there."""

    DESCRIPTION = "Declare a storage-layout marker in rules/markers.py."

    def __init__(self, context: CodemodContext, name: str, what: str, devices: Collection[str]) -> None:
        super().__init__(context)
        self.name, self.what, self.devices = name, what, tuple(sorted(devices))
        self.found = False

    def leave_AnnAssign(self, original_node: cst.AnnAssign, updated_node: cst.AnnAssign) -> cst.AnnAssign:  # noqa: N802, ARG002
        """Insert the declaration where `MARKERS` is bound."""
        value = updated_node.value
        if not isinstance(updated_node.target, cst.Name) or updated_node.target.value != "MARKERS":
            return updated_node
        if not isinstance(value, cst.Tuple):
            return updated_node
        self.found = True
        names = [_declared(e) for e in value.elements]
        if self.name in names:
            return updated_node
        at = next((i for i, name in enumerate(names) if name > self.name), len(names))
        return updated_node.with_changes(
            value=value.with_changes(elements=self._inserted(value.elements, at))
        )

    def _inserted(self, elements: Sequence[cst.BaseElement], at: int) -> list[cst.BaseElement]:
        between = cst.Comma(
            whitespace_after=cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace("    "))
        )
        devices = ", ".join(f'"{d}"' for d in self.devices) + ("," if len(self.devices) == 1 else "")
        what = self.what.replace("\\", "\\\\").replace('"', '\\"')
        marker = cst.parse_expression(
            "Marker(\n"
            f'        name="{self.name}",\n'
            f'        what="{what}",\n'
            f"        devices=({devices}),\n"
            "    )"
        )
        result = list(elements)
        # What follows a comma, comments included, belongs to the element after it.
        own: cst.Comma | cst.MaybeSentinel = between
        if at > 0:
            own = result[at - 1].comma
            result[at - 1] = result[at - 1].with_changes(comma=between)
        result.insert(at, cst.Element(value=marker, comma=own))
        return result


def add_marker(
    name: str, checkout: Path, *, what: str = "", devices: Collection[str] = ("cpu",)
) -> tuple[Path, ...]:
    """Declare marker `name` in the checkout of vt-lint at `checkout` and return the files changed or made.

    Adds the declaration to `rules/markers.py`, sorted by name, and a snippet skeleton under
    `samples/rules/VT001`. What is there already stays as it is. `what` is the rewrite in a line, `devices`
    where a kernel reads it. Raises `AddMarkerError` if `name` is no field name, or `checkout` is not one
    or cannot be written."""
    if not _NAME.fullmatch(name):
        raise AddMarkerError(
            f"marker `{name}`: write the field's name, lower-case letters, digits and underscores"
        )
    path = checkout / _MARKERS
    try:
        text = path.read_bytes()
        module = cst.parse_module(text)
    except OSError as error:
        raise AddMarkerError(
            f"{path}: {error.strerror}; name a source checkout of vt-lint with --tree"
        ) from error
    except cst.ParserSyntaxError as error:
        raise AddMarkerError(f"{path}:{error.raw_line}: not valid Python; repair it first") from error
    command = AddMarkerCommand(
        CodemodContext(), name, what or f"TODO: say what {name} does to the bytes", devices
    )
    after = command.transform_module(module).bytes
    if not command.found:
        raise AddMarkerError(
            f"{path}: no tuple MARKERS: Markers; name a source checkout of vt-lint with --tree"
        )
    changed: list[Path] = []
    try:
        if after != text:
            edit = Edit(str(path.resolve()), 0, len(text), after.decode(), digest(text))
            apply.write({edit.path: (edit,)})
            changed.append(path)
        snippet = checkout / _SNIPPETS / f"{name}.cpp"
        if not snippet.exists():
            snippet.parent.mkdir(parents=True, exist_ok=True)
            snippet.write_text(_SNIPPET.format(name=name))
            changed.append(snippet)
    except (OSError, apply.ApplyError) as error:
        raise AddMarkerError(str(error)) from error
    return tuple(changed)


def _declared(element: cst.BaseElement) -> str:
    """The `name=` of a `Marker(...)` element, empty if it is not spelled as a string."""
    call = element.value
    for argument in call.args if isinstance(call, cst.Call) else ():
        if argument.keyword is not None and argument.keyword.value == "name":
            value = argument.value
            return str(value.evaluated_value) if isinstance(value, cst.SimpleString) else ""
    return ""
