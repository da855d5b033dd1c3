"""An allow comment that suppresses nothing.

## What it does
Reports a `// vt-lint: allow(...)` comment that no finding of this run matches. Computed only when every rule and every
profile ran over the whole tree.

## Why is this bad?
A suppression that outlives its finding hides the next one.

## Example
```cpp
// vt-lint: allow(VT001 repacked) measured plain
```

## Use instead
Delete the comment.

## Fix safety
Safe: only the comment goes.
"""

from __future__ import annotations

CODE = "VT900"
NAME = "unused-suppression"
SUMMARY = "an allow comment that suppresses nothing"
FIXABLE = True
