"""What engines offer: nothing is asked of one that it would compute otherwise than the words say."""

from __future__ import annotations

import pytest

from tasks.dispersion import DISPERSION_NAMES
from tasks.errors import InputError
from tasks.methods import ABILITIES, METHODS, Demand, capable_engines, lacking
from tasks.specs import QuantumSpec, parse_spec

WATER = "3\nwater\nO 0 0 0.119262\nH 0 0.763239 -0.477047\nH 0 -0.763239 -0.477047\n"


def spec(**fields: object) -> QuantumSpec:
    parsed = parse_spec({"molecule": {"xyz": WATER}, "charge": 0, "multiplicity": 1, **fields})
    assert isinstance(parsed, QuantumSpec)
    return parsed


def test_every_method_has_an_engine_and_every_ability_names_known_methods() -> None:
    assert all(method.engines for method in METHODS.values())
    names = {method.name for method in METHODS.values()}
    assert all(ability.methods <= names for ability in ABILITIES.values())
    assert all(set(methods) <= names for methods in DISPERSION_NAMES.values())


@pytest.mark.parametrize(
    ("demand", "field"),
    [
        (Demand("single_point", "BP86"), "method"),
        (Demand("single_point", "GFN2-xTB"), "method"),
        (Demand("single_point", "B3LYP", "ALPB"), "solvent_model"),
        (Demand("frequencies", "B3LYP", "SMD", "D4", density_fitting=False), ""),
    ],
)
def test_what_orca_lacks_is_named(demand: Demand, field: str) -> None:
    assert lacking("orca", demand)[0] == field
    assert ("orca" in capable_engines(demand)) == (not field)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"engine": "orca", "method": "GFN2"}, "engine: 'orca' does not offer GFN2-xTB. It is computed by xtb."),
        ({"engine": "orca", "method": "BP86"}, "engine: 'orca' does not offer BP86. It is computed by pyscf."),
        ({"engine": "xtb", "method": "B3LYP"}, "engine: 'xtb' does not offer B3LYP. It is computed by pyscf, orca."),
        ({"method": "M06-2X", "dispersion": "D3BJ"}, "has no parameters for M06-2X. Leave it out, or take one of "),
    ],
)
def test_what_nobody_computes_exactly_is_refused_with_who_would(fields: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        spec(**fields)
    assert message in str(caught.value)
