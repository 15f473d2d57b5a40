"""Masses, descriptors, groups, lines, pictures and similarity, against published values."""

from __future__ import annotations

import pytest

from orchestrator.chemistry.descriptors import alerts, descriptors
from orchestrator.chemistry.lines import from_inchi, from_selfies, to_inchi, to_selfies
from orchestrator.chemistry.masses import atom_counts, masses
from orchestrator.chemistry.molecules import identify
from orchestrator.chemistry.names import TABLE
from orchestrator.chemistry.pictures import CELL, _legend, draw
from orchestrator.chemistry.similarity import tanimoto, wording
from tasks.errors import InputError

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
CAFFEINE = "Cn1cnc2c1c(=O)n(C)c(=O)n2C"


@pytest.mark.parametrize(
    ("smiles", "average", "monoisotopic"),
    # NIST Chemistry WebBook and PubChem (CID 2244, 2519).
    [(ASPIRIN, 180.158, 180.0423), (CAFFEINE, 194.194, 194.0804)],
)
def test_masses(smiles: str, average: float, monoisotopic: float) -> None:
    found = masses(smiles)
    assert found.average_dalton == pytest.approx(average, abs=0.003)
    assert found.monoisotopic_dalton == pytest.approx(monoisotopic, abs=5e-5)


def test_an_ion_lacks_the_mass_of_its_electron() -> None:
    # 4 C, 12 H and 14N of 14.0030740, by the atomic masses of AME2020.
    neutral = 4 * 12 + 12 * 1.00782503 + 14.00307400
    electron = 5.48579909e-4
    assert masses("C[N+](C)(C)C").monoisotopic_dalton == pytest.approx(neutral - electron, abs=1e-6)


def test_atoms_are_counted_in_hill_order() -> None:
    assert list(atom_counts(ASPIRIN).items()) == [("C", 9), ("H", 8), ("O", 4)]
    assert list(atom_counts("O").items()) == [("H", 2), ("O", 1)]


@pytest.mark.parametrize(
    ("smiles", "key"),
    # PubChem CID 962 and 2244.
    [("O", "XLYOFNOQVPJJNP-UHFFFAOYSA-N"), (ASPIRIN, "BSYNRYMUTXBXSQ-UHFFFAOYSA-N")],
)
def test_inchi_and_its_key(smiles: str, key: str) -> None:
    text, found = to_inchi(smiles)
    assert found == key
    assert from_inchi(text) == identify(smiles).smiles


@pytest.mark.parametrize("text", ["XLYOFNOQVPJJNP-UHFFFAOYSA-N", "InChI=1S/nonsense"])
def test_what_is_no_inchi_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a valid InChI"):
        from_inchi(text)


@pytest.mark.parametrize("smiles", [entry.smiles for entry in TABLE if entry.kind != "anion"])
def test_selfies_give_the_same_molecule_back(smiles: str) -> None:
    assert from_selfies(to_selfies(smiles)) == identify(smiles).smiles


def test_what_is_no_selfies_is_refused() -> None:
    with pytest.raises(InputError, match="is not a valid SELFIES"):
        from_selfies("[C][nonsense")


def test_similarity() -> None:
    assert tanimoto(ASPIRIN, "OC(=O)c1ccccc1OC(C)=O") == 1.0
    # Environments of radius 0 to 2: 5 are in both molecules, 9 in either.
    assert tanimoto("CCO", "CCCO") == pytest.approx(5 / 9)
    assert tanimoto("C", "O") == 0.0
    assert [wording(value) for value in (1.0, 0.5, 0.1)] == ["same fingerprint", "similar", "not alike"]


def test_descriptors_of_aspirin() -> None:
    found = descriptors(ASPIRIN)
    # As ChEMBL lists them (CHEMBL25), which computes them by the same methods.
    assert found.tpsa_square_angstrom == pytest.approx(63.6, abs=0.05)
    assert found.logp == pytest.approx(1.31, abs=0.01)
    assert found.qed == pytest.approx(0.55, abs=0.005)
    assert 1 <= found.sa_score < 2
    assert (found.donors, found.acceptors, found.violations) == (1, 4, 0)


@pytest.mark.parametrize(
    ("smiles", "logp"),
    # The worked examples of Wildman and Crippen 1999: 2-methoxyphenol and 2-phenylpyridine.
    [("COc1ccccc1O", 1.40), ("c1ccc(cc1)-c1ccccn1", 2.75)],
)
def test_logp_agrees_with_its_paper(smiles: str, logp: float) -> None:
    assert descriptors(smiles).logp == pytest.approx(logp, abs=0.005)


@pytest.mark.parametrize(
    ("smiles", "tpsa"),
    # Contributions of single groups, table 1 of Ertl, Rohde and Selzer 2000: C=O, OH, NH2, aromatic N, ether, nitrile.
    [("CC(C)=O", 17.07), ("CCO", 20.23), ("CN", 26.02), ("c1ccncc1", 12.89), ("C1CCOC1", 9.23), ("CC#N", 23.79)],
)
def test_tpsa_agrees_with_its_paper(smiles: str, tpsa: float) -> None:
    assert descriptors(smiles).tpsa_square_angstrom == pytest.approx(tpsa, abs=0.005)


@pytest.mark.parametrize(
    ("smiles", "qed"),
    # Famotidine, cimetidine and tegaserod: examples of Bickerton et al. 2012, as their own program gives them.
    [
        ("N=C(CCSCc1csc(N=C(N)N)n1)NS(N)(=O)=O", 0.253),
        ("CNC(=NCCSCc1nc[nH]c1C)NC#N", 0.234),
        ("CCCCCNC(=N)NN=Cc1c[nH]c2ccc(CO)cc12", 0.234),
    ],
)
def test_qed_agrees_with_its_paper(smiles: str, qed: float) -> None:
    assert descriptors(smiles).qed == pytest.approx(qed, abs=0.001)


@pytest.mark.parametrize(
    ("smiles", "sa_score"),
    # Reference values that come with the authors' program (SA_Score, zim.100.txt).
    [
        ("Cc1c(C(=O)NCCO)[n+](=O)c2ccccc2n1[O-]", 3.166),
        ("OC(c1ccncc1)c1ccc(OCC[NH+]2CCCC2)cc1", 3.822),
        ("CC(C(=O)[O-])c1ccc(-c2ccccc2)cc1", 2.462),
    ],
)
def test_sa_score_agrees_with_its_program(smiles: str, sa_score: float) -> None:
    assert descriptors(smiles).sa_score == pytest.approx(sa_score, abs=0.001)


def test_lipinski_s_limit_is_one_of_the_average_mass() -> None:
    # Hexabromoethane: 2 x 12.011 + 6 x 79.904 = 503.45 g/mol, while its lightest isotopologue has 497.5.
    heavy = "BrC(Br)(Br)C(Br)(Br)Br"
    found, of_masses = descriptors(heavy), masses(heavy)
    assert of_masses.monoisotopic_dalton < 500 < of_masses.average_dalton
    assert found.violations == 1 + (found.logp > 5)


def test_alerts() -> None:
    # The rhodanines are the best known of the PAINS: Baell and Holloway 2010.
    assert "ene_rhod_A(235)" in [one.name for one in alerts("O=C1NC(=S)SC1=Cc1ccccc1") if one.filter == "PAINS"]
    assert alerts("CCO") == []


@pytest.mark.parametrize(
    ("name", "legend"),
    [
        ("α-pinene", "alpha-pinene"),
        ("Löwdin−base‐2′", "Lowdin-base-2'"),
        ("x" * 41, "x" * 37 + "..."),
        ("x" * 40, "x" * 40),
    ],
)
def test_a_name_is_drawn_in_letters_that_the_font_has(name: str, legend: str) -> None:
    assert _legend(name) == legend


def test_pictures_are_a_grid_with_names() -> None:
    png, svg = draw([(f"molecule {number}", "C" * number) for number in range(1, 5)])
    assert png.startswith(b"\x89PNG")
    assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == (3 * CELL[0], 2 * CELL[1])
    assert svg.count("<svg") == 1
