"""An allow comment without a rule, a marker or a reason.

## What it does
Reports a `// vt-lint: allow(...)` comment that names no rule, or gives no reason. Such a comment suppresses nothing.

## Why is this bad?
Nobody can tell later whether it still holds.

## Example
```cpp
// vt-lint: allow(VT001 repacked)
```

## Use instead
// vt-lint: allow(VT001 repacked) the loader of this model never rewrites

## Fix safety
No fix: only the author knows the reason.
"""

from __future__ import annotations

CODE = "VT901"
NAME = "suppression-without-reason"
SUMMARY = "an allow comment without a rule, a marker or a reason"
FIXABLE = False
