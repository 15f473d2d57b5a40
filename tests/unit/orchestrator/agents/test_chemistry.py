from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

from orchestrator.agents import AGENTS, Work
from orchestrator.phrases import counted, listed, signed, slugs
from orchestrator.state import Species
from tasks.settings import Settings
from tests.model.pubchem import StandInPubChem
from tests.unit.orchestrator.agents.conftest import Walk


def test_molecules_are_identified_and_their_structures_written_without_a_job(workspace: Path) -> None:
    walk = Walk("Compare the HOMO of TMA and DMP", workspace)
    work = walk.begin(1)
    assert work.specs == ()
    assert not work.error
    tma, dmp = walk.species
    assert tma.geometry is not None
    assert tma.geometry.path == "runs/run-1/structures/tetramethylammonium.xyz"
    content = (workspace / tma.geometry.path).read_bytes()
    assert hashlib.sha256(content).hexdigest() == tma.geometry.sha256
    assert content.startswith(b"17\n")
    assert dmp.geometry is not None
    assert dmp.geometry_level == "ETKDGv3 + MMFF94s"
    assert work.finding is not None
    assert work.finding.table is not None
    # Masses as in tests of orchestrator.chemistry.molecules, from IUPAC's weights.
    assert work.finding.table.rows[0] == (
        "tetramethylammonium", "C[N+](C)(C)C", "C4H12N+", "74.147", "+1", "1", "17", "yes",
    )  # fmt: skip
    assert [(column.title, column.unit) for column in work.finding.table.columns][3:5] == [
        ("Molar mass", "g/mol"),
        ("Charge", "e"),
    ]


def test_doing_the_step_again_gives_the_same(workspace: Path) -> None:
    walk = Walk("HOMO of TMA", workspace)
    first = walk.begin(1)
    assert AGENTS["chemistry_agent"].plan_jobs(walk.step(1), walk.context) == first


def test_no_structure_is_made_where_none_is_needed(workspace: Path) -> None:
    work = Walk("molecular weight of caffeine, 'Cn1cnc2c1c(=O)n(C)c(=O)n2C'", workspace).begin(1)
    assert work.finding is not None
    assert work.finding.artifacts == ()
    assert not workspace.exists()
    # CRC Handbook: caffeine 194.19 g/mol.
    assert "C8H10N4O2, 194.19" in work.finding.summary


def test_a_force_field_without_parameters_is_said(workspace: Path) -> None:
    work = Walk("3D structure of tetrafluoroborate", workspace).begin(1)
    assert work.finding is not None
    assert "UFF" in work.finding.notes[0]


def test_names_of_files_are_safe_and_different() -> None:
    species = [
        Species(name=n, smiles=s)
        for n, s in (("../../etc", "C"), ("CC=C", "CC=C"), ("CCC", "CCC"), ("C#C", "C#C"), ("[*]", "C"))
    ]
    names = slugs(species)
    assert len(set(names)) == len(names)
    assert all("/" not in name and "." not in name and name for name in names)


def test_small_words() -> None:
    assert (counted(1, "atom"), counted(2, "atom")) == ("1 atom", "2 atoms")
    assert (signed(0), signed(1), signed(-2)) == ("0", "+1", "-2")
    assert (listed([]), listed(["a"]), listed(["a", "b", "c"])) == ("", "a", "a, b and c")


def values(work: Work) -> dict[tuple[str, str], str]:
    assert work.finding is not None
    assert work.finding.table is not None
    return {(row[0], row[1]): row[2] for row in work.finding.table.rows}


def test_operations_fill_a_table_of_one_row_a_value(workspace: Path) -> None:
    work = Walk("formula, SELFIES, InChIKey, functional groups, logP and PAINS alerts of TMA", workspace).begin(1)
    found = values(work)
    name = "tetramethylammonium"
    assert found[name, "Formula"] == "C4H12N+"
    assert found[name, "SELFIES"] == "[C][N+1][Branch1][C][C][Branch1][C][C][C]"
    # PubChem CID 6380.
    assert found[name, "InChIKey"] == "QEMXHQIAXOOASZ-UHFFFAOYSA-N"
    assert found[name, "functional groups"] == "quaternary ammonium"
    assert found[name, "PAINS alerts"] == "none"
    assert (name, "logP") in found
    assert work.finding is not None
    assert work.finding.stage == "identified"
    assert "QEMXHQIAXOOASZ" in work.finding.summary


def walk_with(server: StandInPubChem | None, text: str, workspace: Path) -> Work:
    walk = Walk(text, workspace)
    settings = Settings.model_validate({"home": workspace, "pubchem_url": server.url if server else ""})
    return AGENTS["chemistry_agent"].plan_jobs(walk.step(1), replace(walk.context, settings=settings))


def test_names_and_numbers_are_looked_up_with_their_source(workspace: Path) -> None:
    with StandInPubChem() as server:
        work = walk_with(server, "IUPAC name and CAS number of 'CN1C=NC2=C1C(=O)N(C(=O)N2C)C' and ethanol", workspace)
    name = "Cn1c(=O)c2c(ncn2C)n(C)c1=O"
    assert values(work)[name, "IUPAC name"] == "1,3,7-trimethylpurine-2,6-dione"
    assert values(work)[name, "CAS number"] == "58-08-2, 95789-13-2"
    assert work.finding is not None
    assert f"CAS number of {name}: 58-08-2 (PubChem CID 2519" in work.finding.summary
    # The stand-in has no ethanol.
    assert "IUPAC name and CAS number of ethanol not known: PubChem does not have it (CCO)" in work.finding.summary


def test_without_a_network_the_answer_says_that_nothing_was_looked_up(workspace: Path) -> None:
    server = StandInPubChem()
    with server:
        pass
    work = walk_with(server, "CAS number of toluene and ethanol", workspace)
    assert work.finding is not None
    assert "CAS number of toluene, ethanol not looked up: PubChem could not be reached" in work.finding.summary
    nowhere = walk_with(None, "CAS number of toluene", workspace)
    assert nowhere.finding is not None
    assert "no address of PubChem is set (SIMRELAY_PUBCHEM_URL)" in nowhere.finding.summary


def test_a_structure_from_pubchem_is_marked_as_such(workspace: Path) -> None:
    walk = Walk("HOMO of TMA", workspace)
    (one,) = walk.species
    marked = replace(walk.context, species=(one.model_copy(update={"source": "PubChem CID 6380, 2026-12-01"}),))
    work = AGENTS["chemistry_agent"].plan_jobs(walk.step(1), marked)
    assert work.finding is not None
    assert "(PubChem CID 6380, 2026-12-01)" in work.finding.summary
    assert "its structure is from PubChem CID 6380, 2026-12-01" in work.finding.notes[0]
    assert work.species is not None and work.species[0].source == "PubChem CID 6380, 2026-12-01"


def test_atoms_are_counted_by_element_and_absent_ones_said_to_be_absent(workspace: Path) -> None:
    work = Walk("How many carbons, hydrogens and nitrogens are in toluene?", workspace).begin(1)
    assert values(work)["toluene", "atoms"] == "7 C, 8 H, 0 N"
    assert work.finding is not None
    assert "Atoms of toluene: 7 C, 8 H, 0 N." in work.finding.summary
    assert {(q.name, q.value) for q in work.finding.values} >= {("number of C atoms", 7), ("number of N atoms", 0)}


def test_similarity_names_its_fingerprint(workspace: Path) -> None:
    work = Walk("similarity of ethanol and 1-propanol", workspace).begin(1)
    assert values(work)["ethanol and 1-propanol", "similarity"] == "0.556"
    assert work.finding is not None
    assert work.finding.table is not None
    assert "radius 2, 2048 bits" in work.finding.table.rows[-1][4]
    assert work.finding.values[-1].value == 5 / 9


def test_molecules_are_drawn_into_the_run_s_folder(workspace: Path) -> None:
    work = Walk("draw the 2D structure of TMA and DMP", workspace).begin(1)
    assert work.finding is not None
    (picture,) = work.finding.pictures
    assert (workspace / picture.file.path).read_bytes().startswith(b"\x89PNG")
    assert "tetramethylammonium, N,N-dimethylpiperidinium" in picture.caption


def test_a_wrong_smiles_is_explained_with_its_place(workspace: Path) -> None:
    work = Walk("validate this SMILES: CN+(C)C1=CC=CC=C1", workspace).begin(1)
    assert not work.error
    assert work.finding is not None
    assert "a charge stands outside brackets at character 3 ('+')" in work.finding.summary
    assert values(work)["CN+(C)C1=CC=CC=C1", "position"] == "3"


def test_a_reaction_is_told_what_it_lacks(workspace: Path) -> None:
    work = Walk("Is CCO.O>>CC=O balanced?", workspace).begin(1)
    assert work.finding is not None
    assert "the products lack 4 H, 1 O" in work.finding.summary
