"""Runtime check: patched tree in, evidence out. Probes, minimal build, run, judge."""

from runtime_check.engine import verify
from runtime_check.errors import VerifyError
from runtime_check.evidence import Proof, Recorded, read_evidence
from runtime_check.model import Evidence, HelperUnderTest, VerifyOptions
from runtime_check.report import render_html, render_json, render_markdown, render_text

__all__ = [
    "Evidence",
    "HelperUnderTest",
    "Proof",
    "Recorded",
    "VerifyError",
    "VerifyOptions",
    "read_evidence",
    "render_html",
    "render_json",
    "render_markdown",
    "render_text",
    "verify",
]
