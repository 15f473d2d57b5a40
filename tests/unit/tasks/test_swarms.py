from __future__ import annotations

import pytest

from tasks.cations import FAMILIES, RING_SUBSTITUENTS, RINGS, SUBSTITUENTS, Encoding, option
from tasks.errors import InputError
from tasks.specs import EvaluationSpec, SwarmSpec, parse_spec, queue_of
from tasks.swarms import Objective

WATER = "3\nwater\nO 0 0 0.119\nH 0 0.763 -0.477\nH 0 -0.763 -0.477\n"


def swarm(**changes: object) -> SwarmSpec:
    spec = parse_spec({"kind": "swarm", **changes})
    assert isinstance(spec, SwarmSpec)
    return spec


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backbone": "PBF_BB_9"}, r"backbone: 'PBF_BB_9' is not a known backbone\. Known are PBF_BB_1"),
        ({"backbone": "[*]c1ccccc1"}, r"backbone: .* has 1 places \[\*\]"),
        ({"families": ["piperidin"]}, r"families: 'piperidin' is not known\. Did you mean piperidinium"),
        ({"substituents": ["methyl", "methyl"]}, "substituents: .* names something twice"),
        ({"substituents": []}, "substituents"),
        ({"particles": 1}, "particles: "),
        ({"seed": -1}, "seed: "),
        ({"objectives": []}, "objectives: "),
        (
            {"objectives": [{"property": "lumo", "curve": [[0, 0], [1, 1]]}]},
            "'lumo' is not known. Did you mean lumo_ev",
        ),
        ({"objectives": [{"property": "lumo_ev", "curve": [[0, 0], [0, 1]]}]}, "values that do not rise"),
        ({"objectives": [{"property": "lumo_ev", "curve": [[0, 0], [1, 1.5]]}]}, "a desirability outside 0 to 1"),
        ({"objectives": [{"property": "logp", "curve": [[0, 0], [1, 1]]}] * 2}, "name a property twice"),
        ({"inputs": {"start": {"path": "x", "sha256": "0" * 64, "size_bytes": 1}}}, "It takes 'state' alone"),
        ({"partciles": 5}, "partciles: .* is not a field of this kind of job"),
    ],
)
def test_what_a_swarm_cannot_be_is_said(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        swarm(**changes)


def test_a_swarm_goes_to_the_workers_of_its_engine() -> None:
    assert queue_of(swarm()) == "pso"
    assert queue_of(swarm(tag="big")) == "pso@big"
    assert swarm(families="imidazolium").families == ("imidazolium",)
    assert swarm(backbone="pp_bb_1").backbone_smiles == "[*]c1ccc([*])cc1"


@pytest.mark.parametrize(
    ("value", "expected"),
    # Half way up from 0 to 10 at 5, flat from 10 to 20, half way down at 30, constant beyond the ends.
    [(-1, 0.0), (0, 0.0), (5, 0.5), (10, 1.0), (15, 1.0), (30, 0.6), (40, 0.2), (99, 0.2)],
)
def test_a_desirability_is_linear_between_its_points(value: float, expected: float) -> None:
    curve = ((0.0, 0.0), (10.0, 1.0), (20.0, 1.0), (40.0, 0.2))
    assert Objective(property="logp", curve=curve).desirability(value) == pytest.approx(expected)


def test_a_score_is_the_weighted_mean_of_desirabilities() -> None:
    objectives = [
        {"property": "lumo_ev", "curve": [[-4, 0], [0, 1]], "weight": 3},
        {"property": "logp", "curve": [[0, 1], [2, 0]], "weight": 1},
    ]
    # (3 * 0.75 + 1 * 0.25) / 4
    assert swarm(objectives=objectives).score({"lumo_ev": -1, "logp": 1.5}) == pytest.approx(0.625)
    with pytest.raises(KeyError):
        swarm(objectives=objectives).score({"logp": 1.5})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"properties": ["logp"]}, "properties: 'logp' is not known"),
        ({"molecules": [{"smiles": "O", "xyz": "3\n", "charge": 0}]}, "followed by 0 lines of atoms"),
        ({"molecules": [{"smiles": "O", "xyz": WATER, "charge": 0}] * 2}, "molecules: 'O' is there twice"),
        ({"molecules": []}, "molecules: "),
    ],
)
def test_what_an_evaluation_cannot_be_is_said(changes: dict[str, object], message: str) -> None:
    right = {"molecules": [{"smiles": "O", "xyz": WATER, "charge": 0}], "properties": ["gap_ev"]}
    assert isinstance(parse_spec({"kind": "evaluation", **right}), EvaluationSpec)
    with pytest.raises(InputError, match=message):
        parse_spec({"kind": "evaluation", **right, **changes})


@pytest.mark.parametrize(
    ("value", "expected"), [(-1, 0), (-0.51, 0), (-0.49, 1), (0, 2), (0.49, 2), (0.51, 3), (1, 3), (-2, 0), (7, 3)]
)
def test_a_coordinate_is_divided_evenly_among_the_options(value: float, expected: int) -> None:
    assert option(value, 4) == expected


def test_a_vector_chooses_the_family_and_then_what_stands_where() -> None:
    encoding = Encoding(
        families=("tetraalkylammonium", "piperidinium"),
        substituents=("methyl", "benzyl"),
        ring_substituents=("hydrogen", "ethyl"),
    )
    assert encoding.dimensions == 6
    assert encoding.size == 2**4 + 2**5
    assert encoding.decode([-1, -1, -1, -1, 1, 0]) == ("[N+](C)(C)(C)(Cc9ccccc9)",)
    assert encoding.decode([1, -1, 1, -1, 1, -1]) == ("[N+]1(C)(Cc9ccccc9)CCC(CC)CC1",)
    assert len(encoding.enumerate()) == encoding.size


def test_both_rings_of_a_spiro_cation_take_their_own_substituent() -> None:
    encoding = Encoding(families=("spiro_ammonium",), substituents=("methyl",), ring_substituents=("hydrogen", "ethyl"))
    # rings: first option is pyrrolidine, last azepane; substituents: hydrogen on the first ring, ethyl on the second
    assert encoding.decode([-1, 1, -1, 1]) == ("[N+]12(CCCC1)CCC(CC)CCC2",)


def test_every_table_gives_fragments_that_fit_every_template() -> None:
    for family in FAMILIES.values():
        encoding = Encoding(
            families=(family.name,),
            substituents=tuple(SUBSTITUENTS),
            ring_substituents=tuple(RING_SUBSTITUENTS),
            rings=tuple(RINGS),
        )
        for value in (-1.0, 0.0, 1.0):
            for text in encoding.decode([value] * encoding.dimensions):
                assert text.count("(") == text.count(")") and "{" not in text
