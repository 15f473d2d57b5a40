"""Names that the table does not have: when they are looked up, as what, and when nobody is asked."""

from __future__ import annotations

import contextlib

import pytest

from orchestrator.chemistry import pubchem
from orchestrator.planning import dry_run, plan_request
from orchestrator.planning.asked import Asked, Planned
from orchestrator.planning.planners import Abstained
from tasks.errors import InputError
from tests.model.pubchem import StandInPubChem

#: its CID is ours
QUINOLINIUM: dict[str, object] = {
    "CID": 7,
    "SMILES": "C[N+]1=CC=CC2=CC=CC=C21",
    "InChIKey": "RTQPKEOYPPMVGQ-UHFFFAOYSA-N",
    "MolecularFormula": "C10H10N+",
    "Charge": 1,
    "IUPACName": "1-methylquinolin-1-ium",
    "Title": "N-methylquinolinium",
}


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pubchem, "_PACE", pubchem._Pace())
    monkeypatch.setattr(pubchem, "_SPACING_SECONDS", 0.0)


def names(planned: Planned) -> list[str]:
    return [one.name for one in planned.species]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HOMO of caffeine", ["caffeine"]),
        ("What is the molar mass of caffeine?", ["caffeine"]),
        ("Draw a 2D picture of caffeine", ["caffeine"]),
        ("Optimise caffeine with B3LYP/def2-SVP", ["caffeine"]),
        ("SELFIES of 'caffeine'", ["caffeine"]),
        ("How many carbon atoms in caffeine?", ["caffeine"]),
        # The table has acetate, which is another molecule.
        ("logP of ethyl acetate", ["ethyl acetate"]),
        ("Compare the HOMO of toluene and caffeine", ["toluene", "caffeine"]),
        ("Compare the HOMO of caffeine and toluene", ["caffeine", "toluene"]),
        ("functional groups of 1,3,7-trimethylpurine-2,6-dione", ["1,3,7-trimethylpurine-2,6-dione"]),
        ("What is caffeine's dipole moment?", ["caffeine"]),
        ("logP of acetic ester and ethanol", ["acetic ester", "ethanol"]),
        ("Compare the dipole moments of caffeine, guaranine and toluene", ["caffeine", "toluene"]),
        ("HOMO of 58-08-2", ["Caffeine"]),
        ("What is the SMILES of CAS 58-08-2?", ["Caffeine"]),
        ("dipole moment of InChIKey=RYYVLZVUVIJVGH-UHFFFAOYSA-N", ["Caffeine"]),
        ("HOMO of caffeine, then search the web for it", ["caffeine"]),
    ],
)
def test_a_request_about_a_named_compound_is_planned_with_it(text: str, expected: list[str]) -> None:
    with StandInPubChem() as server:
        planned = plan_request(Asked(text=text, pubchem_url=server.url))
    assert names(planned) == expected
    known = [one for one in planned.species if one.source]
    assert [one.source.split(",")[0].split(" (")[0] for one in known] in (["PubChem CID 2519"], ["PubChem CID 8857"])
    assert "'" not in planned.plan.steps[0].description


@pytest.mark.parametrize(
    "text",
    [
        "HOMO of toluene",
        "HOMO of 'CCO' and TMA",
        "LUMO of QEMXHQIAXOOASZ-UHFFFAOYSA-N",
        "HOMO of InChI=1S/CH4/h1H4",
        "hello",
        "What does the literature say about caffeine?",
        "HOMO of my polymer",
        "HOMO of the membrane",
        "energy of this cation",
        "Design piperidinium cations for PBF_BB_1",
        "report of 2026-12-1: HOMO of TMA",
    ],
)
def test_nobody_is_asked_where_nothing_is_to_be_looked_up(text: str) -> None:
    with StandInPubChem() as server:
        with contextlib.suppress(InputError):
            plan_request(Asked(text=text, pubchem_url=server.url))
        assert server.seen == []


def test_only_the_whole_of_a_name_is_looked_up() -> None:
    with StandInPubChem() as server:
        with pytest.raises(InputError, match="'sodium dodecyl sulfate' is a name that neither"):
            plan_request(Asked(text="molar mass of sodium dodecyl sulfate and TMA", pubchem_url=server.url))
        assert [seen.body["name"] for seen in server.seen] == ["sodium dodecyl sulfate"]


def test_what_was_looked_up_is_kept_and_not_asked_for_again() -> None:
    with StandInPubChem() as server:
        first = plan_request(Asked(text="HOMO of caffeine", pubchem_url=server.url))
        asked = len(server.seen)
        again = plan_request(Asked(text="HOMO of caffeine", pubchem_url=server.url, looked_up=first.looked_up))
        assert len(server.seen) == asked
    assert first.looked_up[0].source == first.species[0].source
    assert (again.plan, again.species, again.looked_up) == (first.plan, first.species, first.looked_up)


def test_without_an_address_the_table_is_all_there_is() -> None:
    with pytest.raises(Abstained, match="'caffeine' is not in the table of names"):
        plan_request(Asked(text="HOMO of caffeine"))


def test_without_a_network_the_message_says_what_was_looked_up_and_what_to_do() -> None:
    with pytest.raises(InputError) as caught:
        plan_request(Asked(text="HOMO of caffeine", pubchem_url="http://127.0.0.1:9"))
    assert str(caught.value) == (
        "request: 'HOMO of caffeine' names no molecule that Simrelay knows: 'caffeine' is a name that the table of"
        " names does not have, and that could not be looked up: PubChem could not be reached at 127.0.0.1:9. Give its"
        " SMILES in quotes, for example 'C[N+](C)(C)C', or try again when the network is there."
    )


def test_a_box_of_a_looked_up_ion_is_read_again_as_it_was_planned() -> None:
    with StandInPubChem(more={"N-methylquinolinium": [QUINOLINIUM]}) as server:
        text = "Run MD of 8 N-methylquinolinium hydroxide pairs in 400 waters at 353 K for 50 ps"
        planned = dry_run(text, pubchem_url=server.url)
    simulation = next(step for step in planned["steps"] if step["agent"] == "md_agent")["jobs"][0]["spec"]
    (cation,) = simulation["system"]["cations"]
    assert (cation["smiles"], cation["name"]) == ("C[n+]1cccc2ccccc21", "N-methylquinolinium")
    assert planned["species"][0]["source"].startswith("PubChem CID 7")


@pytest.mark.parametrize(
    ("text", "smiles"),
    [
        ("HOMO of InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3.", "CCO"),
        ("HOMO of 'InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3' in water", "CCO"),
        ("molar mass of [C][C][O]", "CCO"),
        ("Convert the SELFIES [C][C][O] to SMILES", "CCO"),
        ("draw [C][N+1][Branch1][C][C][Branch1][C][C][C]", "C[N+](C)(C)C"),
        ("molar mass of [H][H]", "[H][H]"),
        ("charge of [NH4+]", "[NH4+]"),
    ],
)
def test_other_notations_are_read_as_molecules(text: str, smiles: str) -> None:
    planned = plan_request(Asked(text=text))
    assert [one.smiles for one in planned.species] == [smiles]
    assert planned.plan.steps[0].goal.operations in ((), ("picture",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("HOMO of InChI=1S/C2H6O/c1-2-", "inchi: .* is not a valid InChI. Give the whole of it"),
        ("HOMO of InChI=1S/ClH.Na/h1H;/q;+1/p-1", "is 2 molecules, not one"),
        ("HOMO of the SELFIES [C][Foo]", "selfies: .* is not a valid SELFIES"),
        ("HOMO of CAS number 58-08-3", "is no CAS number: its last digit does not check the others. .* 58-08-2"),
        ("HOMO of XEKOWRVHYACXOJ-UHFFFAOYSA-N", "is an InChIKey, from which nothing can be read"),
    ],
)
def test_a_notation_that_cannot_be_read_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_request(Asked(text=text))
