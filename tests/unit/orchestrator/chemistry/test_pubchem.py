"""Look-ups in PubChem, on a stand-in of ours: what is taken, what is refused, and what a network does to them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from orchestrator.chemistry import pubchem
from orchestrator.chemistry.lookups import find_compound, names_of
from orchestrator.chemistry.pubchem import PubChem, check_digit, is_registry_number, registry_numbers
from tasks.errors import InputError, Unreachable
from tests.model.pubchem import CAFFEINE, ETHYL_ACETATE, StandInPubChem, busy
from tests.model.scripted import Raw, as_json

#: nobody listens at the discard port
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pubchem, "_PACE", pubchem._Pace())
    monkeypatch.setattr(pubchem, "_SPACING_SECONDS", 0.0)
    monkeypatch.setattr(pubchem, "_BACK_OFF_SECONDS", 0.01)


@pytest.fixture
def server() -> Iterator[StandInPubChem]:
    with StandInPubChem() as found:
        yield found


@pytest.mark.parametrize("name", ["caffeine", "Caffeine", "guaranine", "1,3,7-trimethylpurine-2,6-dione"])
def test_trivial_and_systematic_names_give_a_structure_with_its_source(server: StandInPubChem, name: str) -> None:
    found = find_compound(name, server.url)
    assert found.name == name
    assert found.smiles == "Cn1c(=O)c2c(ncn2C)n(C)c1=O"
    assert found.source.startswith("PubChem CID 2519")
    assert ("(Caffeine)" in found.source) == (name.lower() != "caffeine")


@pytest.mark.parametrize("asked", ["58-08-2", "RYYVLZVUVIJVGH-UHFFFAOYSA-N"])
def test_a_number_or_key_is_named_by_the_title_of_its_compound(server: StandInPubChem, asked: str) -> None:
    found = find_compound(asked, server.url)
    assert (found.name, found.synonyms) == ("Caffeine", (asked,))


def test_molecules_have_their_names_and_cas_numbers_looked_up(server: StandInPubChem) -> None:
    names = names_of("Cn1c(=O)c2c(ncn2C)n(C)c1=O", server.url)
    assert names is not None
    assert (names.cid, names.iupac_name) == (2519, "1,3,7-trimethylpurine-2,6-dione")
    # 58-08-3 has a wrong check digit, and CAS-58-08-2 is the first one again.
    assert names.cas == ("58-08-2", "95789-13-2")
    assert names_of("CCO", server.url) is None


def test_a_name_that_nobody_has_is_told_from_a_network_that_is_not_there(server: StandInPubChem) -> None:
    with pytest.raises(InputError, match="neither the table of names nor PubChem has"):
        find_compound("xyzzyl", server.url)
    begun = time.monotonic()
    with pytest.raises(InputError, match=r"could not be reached at 127\.0\.0\.1:9\. Give its") as caught:
        find_compound("caffeine", NOWHERE)
    assert time.monotonic() - begun < 3
    assert caught.value.value == "caffeine"


def test_several_compounds_of_one_name_are_all_shown_and_none_is_taken() -> None:
    with StandInPubChem(more={"spirit": [CAFFEINE, ETHYL_ACETATE]}) as server, pytest.raises(InputError) as caught:
        find_compound("spirit", server.url)
    assert "is the name of 2 compounds in PubChem: Caffeine (CID 2519, CN1C=NC2" in str(caught.value)
    assert "Ethyl Acetate (CID 8857, CCOC(=O)C)" in str(caught.value)


def test_of_several_the_one_whose_title_it_is_is_meant() -> None:
    with StandInPubChem(more={"caffeine": [ETHYL_ACETATE, CAFFEINE]}) as server:
        assert find_compound("caffeine", server.url).source.startswith("PubChem CID 2519")


def test_a_compound_that_is_only_called_alike_is_not_taken() -> None:
    with (
        StandInPubChem(more={"caffein": [CAFFEINE]}) as server,
        pytest.raises(InputError, match="'caffein' is a name that PubChem does not have; the nearest is Caffeine"),
    ):
        find_compound("caffein", server.url)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"Charge": 1}, r"states C8H10N4O2, charge \+1, .* and its SMILES is C8H10N4O2, charge \+0"),
        # Isocaffeine: the same formula, and another molecule.
        ({"SMILES": "CN1C=NC2=C1N(C)C(=O)N(C)C2=O"}, "states C8H10N4O2, charge .0, InChIKey RYYVL"),
        ({"SMILES": "CCO"}, "its SMILES is C2H6O"),
        ({"SMILES": "CC(C)(C)(C)C"}, "which cannot be used: it is not a possible molecule"),
        ({"SMILES": "[Na+].[Cl-]"}, r"is a salt or mixture.*'\[Na\+\]' and '\[Cl-\]'"),
    ],
)
def test_what_contradicts_itself_is_not_taken(changes: dict[str, object], message: str) -> None:
    with (
        StandInPubChem(more={"caffeine": [{**CAFFEINE, **changes}]}) as server,
        pytest.raises(InputError, match=message),
    ):
        find_compound("caffeine", server.url)


def test_another_compound_for_a_key_is_refused() -> None:
    key = "XEKOWRVHYACXOJ-UHFFFAOYSA-N"
    with StandInPubChem(more={key: [CAFFEINE]}) as server:
        with pytest.raises(InputError, match="gives another InChIKey"):
            find_compound(key, server.url)
        with pytest.raises(Unreachable, match="that of another compound"):
            names_of("CCOC(C)=O", server.url)


def test_a_busy_service_is_asked_again_more_slowly() -> None:
    with StandInPubChem(busy(), busy()) as server:
        assert find_compound("caffeine", server.url).source.startswith("PubChem CID 2519")
        assert len(server.seen) == 4  # two refusals, the properties, the synonyms


def test_a_service_that_stays_busy_is_given_up() -> None:
    with StandInPubChem(busy(), busy(), busy(), busy()) as server:
        with pytest.raises(InputError, match=r"could not be looked up: PubChem is busy \(HTTP 503\)"):
            find_compound("caffeine", server.url)
        assert len(server.seen) == 3


def test_requests_keep_their_distance_and_heed_the_throttling_header() -> None:
    pace = pubchem._Pace()
    pace.heed("Request Count status: Yellow (60%), Request Time status: Green (0%), Service status: Green (20%)")
    assert pace._factor == 2.0
    pace.heed("Request Count status: Green (0%), Request Time status: Red (80%), Service status: Yellow (55%)")
    assert pace._factor == 4.0
    pace.heed("")
    assert pace._factor == 1.0


def test_two_requests_are_a_spacing_apart(server: StandInPubChem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pubchem, "_SPACING_SECONDS", 0.3)
    begun = time.monotonic()
    find_compound("caffeine", server.url)
    assert time.monotonic() - begun >= 0.3


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Raw(b"<html>maintenance</html>"), "answered with what is no JSON"),
        (as_json({"Waiting": {"ListKey": "1"}}), "answered with what is no list of compounds"),
        (as_json([1]), "answered with what is no list of compounds"),
        (as_json({"PropertyTable": {"Properties": [{"CID": 1}]}}), "answered with what is no list of compounds"),
        (as_json({"Fault": {"Code": "PUGREST.BadRequest"}}, 400), r"refused the question \(HTTP 400\)"),
        (Raw(b"", 403), r"refused the question \(HTTP 403\)"),
    ],
)
def test_what_is_no_answer_says_nothing_about_the_name(answer: Raw, message: str) -> None:
    with (
        StandInPubChem(answer) as server,
        pytest.raises(InputError, match=f"could not be looked up: PubChem {message}"),
    ):
        find_compound("caffeine", server.url)


def test_an_answer_that_does_not_come_is_waited_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pubchem, "_TIMEOUT", pubchem.httpx.Timeout(0.2))
    with StandInPubChem(Raw(slow=True), Raw(slow=True), Raw(slow=True)) as server:
        with pytest.raises(Unreachable, match="did not answer within"):
            PubChem(server.url).by_name("caffeine")
        assert len(server.seen) == 2


def test_properties_under_their_older_name_are_read() -> None:
    older = {**{key: value for key, value in CAFFEINE.items() if key != "SMILES"}, "IsomericSMILES": CAFFEINE["SMILES"]}
    with StandInPubChem(more={"caffeine": [older]}) as server:
        assert find_compound("caffeine", server.url).smiles == "Cn1c(=O)c2c(ncn2C)n(C)c1=O"


@pytest.mark.parametrize("number", ["58-08-2", "7732-18-5", "64-17-5", "108-88-3", "75-09-2"])
def test_cas_numbers_are_known_by_their_check_digit(number: str) -> None:
    assert is_registry_number(number)
    wrong = f"{number[:-1]}{(int(number[-1]) + 1) % 10}"
    assert not is_registry_number(wrong)
    assert check_digit(wrong) == int(number[-1])
    assert registry_numbers(["water", f"CAS-{number}", wrong, number]) == [number]
