from __future__ import annotations

import pytest

from orchestrator.chemistry import find_names, identify, look_up
from orchestrator.chemistry.names import TABLE, close_names


def test_every_entry_is_a_molecule_of_its_kind_and_named_once() -> None:
    assert len(TABLE) >= 60
    smiles = [identify(entry.smiles).smiles for entry in TABLE]
    assert len(set(smiles)) == len(smiles)
    for entry in TABLE:
        charge = identify(entry.smiles).charge
        sign = {"cation": charge > 0, "anion": charge < 0, "molecule": charge == 0}[entry.kind]
        assert sign, entry.name
    words = [word.lower() for entry in TABLE for word in (entry.name, *entry.synonyms)]
    assert len(set(words)) == len(words)


# Sum formulas as PubChem gives them for these names.
@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("TMA", "C4H12N+"),
        ("tetramethylammonium", "C4H12N+"),
        ("DMP", "C7H16N+"),
        ("BTMA", "C10H16N+"),
        ("ASU", "C10H20N+"),
        ("6-azoniaspiro[5.5]undecane", "C10H20N+"),
        ("tetraethylammonium", "C8H20N+"),
        ("tetrapropylammonium", "C12H28N+"),
        ("tetrabutylammonium", "C16H36N+"),
        ("1-ethyl-3-methylimidazolium", "C6H11N2+"),
        ("N-methylquinuclidinium", "C8H16N+"),
        ("N,N-dimethylpyrrolidinium", "C6H14N+"),
        ("tetraphenylphosphonium", "C24H20P+"),
        ("choline", "C5H14NO+"),
        ("guanidinium", "CH6N3+"),
        ("dimethyl sulfoxide", "C2H6OS"),
        ("tetrahydrofuran", "C4H8O"),
        ("DABCO", "C6H12N2"),
        ("p-terphenyl", "C18H14"),
        ("hexafluorophosphate", "F6P-"),
        ("bicarbonate", "CHO3-"),
        ("Acetonitrile", "C2H3N"),
    ],
)
def test_names_stand_for_the_right_molecule(name: str, formula: str) -> None:
    named = look_up(name)
    assert named is not None
    assert identify(named.smiles).formula == formula


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tetramethylammonium and N,N-dimethylpiperidinium", ["tetramethylammonium", "N,N-dimethylpiperidinium"]),
        ("Water, Methanol; waters", ["water", "methanol", "water"]),
        ("(TMA) TMA's TMA+/DMP.", ["tetramethylammonium"] * 3 + ["N,N-dimethylpiperidinium"]),
        ("tma dmp asu", []),
        ("water-soluble polymers", []),
        ("N-ethyl-N-methylmorpholinium", []),
        ("[OH-] but OH- and H2O, not H2O2", ["hydroxide", "water"]),
        ("quaternary ammonium", []),
        ("acetic  acid and formic\nacid", ["acetic acid", "formic acid"]),
        ("methylimidazolium", []),
    ],
)  # fmt: skip
def test_names_are_found_whole_and_longest_first(text: str, expected: list[str]) -> None:
    assert [match.named.name for match in find_names(text)] == expected


def test_a_match_says_where_it_stands() -> None:
    text = "the LUMO of benzyltrimethylammonium, please"
    (match,) = find_names(text)
    assert text[match.start : match.end] == "benzyltrimethylammonium"


def test_misspelt_names_have_neighbours() -> None:
    assert close_names("tetramethylamonium")[0] == "tetramethylammonium"
    assert close_names("xyzzy") == []
