"""`simrelay engine parse`: outputs that were computed elsewhere, by the code that reads an engine's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tasks.command import run

OUTPUTS = Path(__file__).parent / "engines" / "orca_outputs"


def test_a_finished_output_as_json_has_units_in_its_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["engine", "parse", "orca", str(OUTPUTS / "optimised_6.out"), "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert (read["engine"], read["version"], read["state"], read["error_class"]) == ("orca", "6.0.1", "done", None)
    result = read["result"]
    assert result["energy_hartree"] == -76.359000333333
    assert (result["homo_ev"], result["lumo_ev"]) == (-8.1, 1.3)
    assert result["frequencies_per_cm"] == [1640.0, 3750.0, 3850.0]
    assert result["gibbs_energy_hartree"] == -76.35561966
    assert result["xyz"].splitlines()[0] == "3"


def test_what_an_output_does_not_hold_is_absent(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["engine", "parse", "orca", str(OUTPUTS / "radical_5.out"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert not {"frequencies_per_cm", "gibbs_energy_hartree", "optimisation_steps"} & set(result)


def test_a_failed_output_tells_its_error_class(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["engine", "parse", "orca", str(OUTPUTS / "out_of_cycles_6.out")]) == 0
    shown = capsys.readouterr().out
    assert "state: failed" in shown
    assert "error_class: optimisation_not_converged" in shown
    assert "The optimization did not converge" in shown
    assert "remedy: Go on from the last geometry" in shown


def test_an_output_that_has_no_end_is_unfinished(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = tmp_path / "cut.out"
    cut.write_text((OUTPUTS / "radical_5.out").read_text().partition("****ORCA TERMINATED")[0])
    assert run(["engine", "parse", "orca", str(cut), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "unfinished"


@pytest.mark.parametrize(
    ("engine", "file", "message"),
    [
        ("orka", "a.out", "ENGINE: 'orka' is not an engine. There are pyscf"),
        ("xtb", "a.out", "ENGINE: 'xtb' has no output of its own that could be read. Outputs of orca"),
        ("orca", "none.out", "is not a file"),
        ("orca", "a.out", "does not look like an output of orca"),
    ],
)
def test_what_cannot_be_read_is_one_line_and_exit_code_2(
    engine: str, file: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.out").write_text("nothing of ORCA\n")
    assert run(["engine", "parse", engine, str(tmp_path / file)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
