"""Files of molecules and of parameters, as jobs; what is wrong is told by row and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.cli.rows import BadRows, read_rows
from orchestrator.problems import Problem
from tasks.errors import InputError

XYZ = "2\nhydrogen\nH 0 0 0\nH 0 0 0.74\n"


def csv(folder: Path, text: str, name: str = "rows.csv") -> Path:
    """Write a file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_cells_win_over_the_template_and_empty_cells_do_not(tmp_path: Path) -> None:
    path = csv(tmp_path, "smiles,name,method,charge\nO,water,,\nC[N+](C)(C)C,TMA,PBE,1\n")
    rows = read_rows(path, {"method": "B3LYP", "basis": "def2-SVP", "cores": "2", "solvent": ""})
    assert [row.number for row in rows.rows] == [2, 3]
    assert rows.rows[0].job == {
        "kind": "quantum",
        "molecule": {"smiles": "O", "name": "water"},
        "method": "B3LYP",
        "basis": "def2-SVP",
        "resources": {"cores": "2"},
    }
    assert rows.rows[1].job["method"] == "PBE"
    assert rows.rows[1].job["charge"] == "1"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("smiles;name\nO;water\n", [2]),
        ("smiles\tname\nO\twater\n", [2]),
        ("\ufeffSMILES, Name\nO, water\n", [2]),
        ('smiles,name\n\n"O","a, b"\n\nC,c\n', [3, 5]),
        ('smiles,name\n"O","two\nlines"\nC,c\n', [3, 4]),
    ],
)
def test_what_spreadsheets_write_is_read(tmp_path: Path, text: str, numbers: list[int]) -> None:
    rows = read_rows(csv(tmp_path, text), {})
    assert [row.number for row in rows.rows] == numbers
    assert rows.rows[0].job["molecule"]["smiles"] == "O"


def test_a_smiles_file_has_a_name_behind_each_and_comments(tmp_path: Path) -> None:
    rows = read_rows(csv(tmp_path, "# ions\nO water\n\nC[N+](C)(C)C\ttetramethyl ammonium\nC\n", "a.smi"), {})
    assert [(row.number, row.job["molecule"]) for row in rows.rows] == [
        (2, {"smiles": "O", "name": "water"}),
        (4, {"smiles": "C[N+](C)(C)C", "name": "tetramethyl ammonium"}),
        (5, {"smiles": "C"}),
    ]


def test_xyz_files_are_read_beside_the_csv(tmp_path: Path) -> None:
    (tmp_path / "h2.xyz").write_text(XYZ)
    rows = read_rows(csv(tmp_path, "xyz_file,charge\nh2.xyz,0\nnone.xyz,0\n"), {})
    assert rows.rows[0].job["molecule"] == {"xyz": XYZ}
    with pytest.raises(BadRows, match=r"row 3, column xyz_file: 'none.xyz' cannot be read: No such file"):
        rows.refuse()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "smiles,colour\nO,red\n", "'colour' is not a column"),
        ("a.csv", "name,charge\nwater,0\n", "names no column of molecules"),
        ("a.csv", "smiles,name\n", "holds no jobs"),
        ("a.csv", "", "names no column of molecules"),
        ("a.smi", "\n# nothing\n", "holds no jobs"),
    ],
)
def test_a_file_that_is_something_else_is_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_rows(csv(tmp_path, text, name), {})


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_rows(tmp_path / "none.csv", {})
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8 text"):
        read_rows(tmp_path / "binary.csv", {})


def test_problems_are_told_by_row_and_column_and_those_of_options_once(tmp_path: Path) -> None:
    rows = read_rows(csv(tmp_path, "smiles,charge\nO,0\nC,0,1\nC1CC,2\n"), {"method": "B4LYP"})
    found = [
        *(Problem(field="method", value="B4LYP", problem="is not known", remedy="See.", row=row) for row in (0, 1)),
        Problem(field="molecule.smiles", value="C1CC", problem="is not a SMILES", remedy="See.", row=1),
        Problem(field="charge", value="2", problem="is wrong", remedy="See.", row=1),
    ]
    with pytest.raises(BadRows) as refused:
        rows.refuse(found)
    assert str(refused.value).splitlines() == [
        "option --method: 'B4LYP' is not known. See.",
        "row 3, number of columns: 2 is fewer than its cells. Put a cell that holds the separator in double quotes.",
        "row 4, column smiles: 'C1CC' is not a SMILES. See.",
        "row 4, column charge: '2' is wrong. See.",
    ]
    assert refused.value.exit_code == 2


def test_columns_of_a_program_are_its_parameters(tmp_path: Path) -> None:
    path = csv(tmp_path, "steps,Temperature,mode,label,cores\n10,1.5,fast,first,2\n,,,second,\n")
    rows = read_rows(path, {"memory": "1 GB"}, "relax")
    assert rows.rows[0].job == {
        "kind": "program",
        "program": "relax",
        "parameters": {"steps": "10", "Temperature": "1.5", "mode": "fast"},
        "label": "first",
        "resources": {"cores": "2", "memory": "1 GB"},
    }
    assert rows.rows[1].job["parameters"] == {}
