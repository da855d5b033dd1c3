"""A textual candidate that no parse covered.

## What it does
Reports code that names a carrier or a marker and that no profile parsed: preprocessed out everywhere, in a file
that could not be read, or in a function with errors.

## Why is this bad?
What was not looked at is not clean.

## Example
```cpp
#ifdef A_MACRO_NO_PROFILE_DEFINES
```

## Use instead
A profile in `.vt-lint.toml` that defines the macro.

## Fix safety
No fix.
"""

from __future__ import annotations

CODE = "VT902"
NAME = "unanalysed-candidate"
SUMMARY = "a textual candidate that no parse covered"
FIXABLE = False
