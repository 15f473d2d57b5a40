"""From a request in words to a plotted MSD and diffusion coefficients with their errors, as a user asks for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.stack.test_stack import Installation

REQUEST = (
    "Run MD of 8 N,N-dimethylpiperidinium hydroxide pairs in water at 353 K, equilibrate 5 ps, for 30 ps"
    " and plot the MSD"
)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_one_request_gives_diffusion_with_errors_and_a_plot(tmp_path: Path) -> None:
    installation = Installation(tmp_path / "home")
    try:
        done = installation.call("run", REQUEST, "--json", seconds=1100)
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
    finally:
        installation.call("down")
    text = json.dumps(answer, ensure_ascii=False)
    for species in ("N,N-dimethylpiperidinium", "hydroxide", "water"):
        assert species in text
    assert "± " in text and "m²/s" in text
    (figure,) = (tmp_path / "home" / "workspace" / "runs").glob("*/figures/*.png")
    assert figure.read_bytes().startswith(b"\x89PNG")
    (report,) = (tmp_path / "home" / "workspace" / "runs").glob("*/report.md")
    assert "no Grotthuss hopping" in report.read_text()
    assert f"](figures/{figure.name})" in report.read_text()
