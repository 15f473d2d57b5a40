"""ORCA's input: the keywords mean what the words of a spec mean on every engine."""

from __future__ import annotations

import pytest

from tasks.errors import InputError
from tasks.methods import ABILITIES, BASES, SOLVENTS
from tasks.specs import QuantumSpec, parse_spec
from tests.unit.worker.harness import METHYLAMMONIUM, WATER
from worker.engines.orca_input import METHODS, Settings, check, level_of, write_input


def spec(xyz: str = WATER, charge: int = 0, **fields: object) -> QuantumSpec:
    parsed = parse_spec({"molecule": {"xyz": xyz}, "charge": charge, "engine": "orca", **fields})
    assert isinstance(parsed, QuantumSpec)
    return parsed


def written(asked: QuantumSpec, settings: Settings | None = None, *, orbitals: bool = False) -> list[str]:
    xyz = asked.molecule.xyz or ""
    return write_input(asked, settings or Settings(), memory_mb=4000, xyz=xyz, orbitals=orbitals).splitlines()


def keywords(**fields: object) -> list[str]:
    return written(spec(**fields))[0].removeprefix("! ").split()


#: method, without density fitting, with it; names as in 4.2.2 of the manual of ORCA 6.0
INPUTS = {
    # VWN3 correlation is Gaussian's form, and ours; ORCA's plain B3LYP has VWN5.
    "B3LYP": ("B3LYP/G", "NORI NOCOSX", "RIJCOSX def2/J"),
    "B3LYP5": ("B3LYP", "NORI NOCOSX", "RIJCOSX def2/J"),
    "PBE": ("PBE", "NORI", "RI def2/J"),
    "PBE0": ("PBE0", "NORI NOCOSX", "RIJCOSX def2/J"),
    "BLYP": ("BLYP", "NORI", "RI def2/J"),
    "TPSS": ("TPSS", "NORI", "RI def2/J"),
    "M06-2X": ("M062X", "NORI NOCOSX", "RIJCOSX def2/J"),
    "CAM-B3LYP": ("CAM-B3LYP", "NORI NOCOSX", "RIJCOSX def2/J"),
    "wB97X": ("wB97X", "NORI NOCOSX", "RIJCOSX def2/J"),
    "r2SCAN": ("r2SCAN", "NORI", "RI def2/J"),
    "HF": ("HF", "NORI NOCOSX", "RIJCOSX def2/J"),
}


def test_every_method_that_orca_offers_is_checked_here_and_no_other() -> None:
    assert ABILITIES["orca"].methods == set(INPUTS) == set(METHODS)


@pytest.mark.parametrize("method", INPUTS)
def test_the_written_input_of_each_method(method: str) -> None:
    word, exact, fitted = INPUTS[method]
    assert keywords(method=method) == [word, "def2-SVP", *fitted.split(), "TightSCF"]
    assert keywords(method=method, density_fitting=False) == [word, "def2-SVP", *exact.split(), "TightSCF"]


@pytest.mark.parametrize("basis", BASES.values())
def test_the_auxiliary_basis_fits_the_basis(basis: str) -> None:
    words = keywords(basis=basis)
    assert words[1] == basis
    assert words[3] == ("def2/J" if basis.startswith("def2-") else "AutoAux")


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("single_point", []),
        ("optimisation", ["Opt"]),
        ("frequencies", ["Freq"]),
        ("optimisation_frequencies", ["Opt", "Freq"]),
    ],
)
def test_the_written_input_of_each_task(task: str, words: list[str]) -> None:
    lines = written(spec(task=task, temperature_kelvin=330.0, pressure_pascal=100_000.0))
    assert lines[0].split("TightSCF")[1].split() == words
    thermal = "%freq Temp 330.0000 Pressure 0.98692327 QuasiRRHO false CutOffFreq 1.0 end"
    assert (thermal in lines) == ("Freq" in words)
    assert ("%geom MaxIter 200 end" in lines) == ("Opt" in words)


def test_an_atom_is_not_optimised() -> None:
    assert "Opt" not in written(spec("1\nargon\nAr 0 0 0\n", task="optimisation"))[0]


@pytest.mark.parametrize("dispersion", ["D3BJ", "D4"])
def test_dispersion_is_a_keyword(dispersion: str) -> None:
    assert dispersion in keywords(dispersion=dispersion)
    assert level_of(spec(dispersion=dispersion), 1) == f"B3LYP-{dispersion}/def2-SVP (RIJCOSX)"


@pytest.mark.parametrize("solvent", SOLVENTS)
def test_solvents_have_our_permittivity_in_cpcm_and_their_long_names_in_smd(solvent: str) -> None:
    lines = written(spec(solvent=solvent))
    assert "CPCM" in lines[0].split()
    assert f"%cpcm epsilon {SOLVENTS[solvent]:g} end" in lines
    long = {"dmso": "dimethylsulfoxide", "dmf": "n,n-dimethylformamide", "thf": "tetrahydrofuran", "hexane": "n-hexane"}
    smd = written(spec(solvent=solvent, solvent_model="SMD"))
    assert f'%cpcm smd true SMDsolvent "{long.get(solvent, solvent)}" end' in smd


def test_charge_multiplicity_and_geometry_end_the_input() -> None:
    lines = written(spec(METHYLAMMONIUM, charge=1))
    assert lines[-10] == "* xyz 1 1"
    assert lines[-9].split() == ["N", "0.00000000", "0.00000000", "0.71400000"]
    assert lines[-1] == "*"
    assert "* xyz 1 2" in written(spec(charge=1))


def test_memory_is_three_quarters_shared_by_the_processes() -> None:
    assert "%maxcore 3000" in written(spec())
    assert not any(line.startswith("%pal") for line in written(spec()))
    parallel = written(spec(), Settings(processes=4))
    assert "%maxcore 750" in parallel
    assert "%pal nprocs 4 end" in parallel


def test_corrections_change_how_a_result_is_reached() -> None:
    settings = Settings(scf="SlowConv", max_scf_cycles=500, calculate_hessian=True, numerical_frequencies=True)
    lines = written(spec(task="optimisation_frequencies"), settings, orbitals=True)
    assert lines[0].split()[-5:] == ["TightSCF", "SlowConv", "Opt", "NumFreq", "MORead"]
    assert "%scf MaxIter 500 ConvForced true end" in lines
    assert "%geom MaxIter 200 Calc_Hess true end" in lines
    # Another name than the job's: ORCA would overwrite it before it has read it.
    assert '%moinp "restart.gbw"' in lines


def test_a_spec_that_the_gate_did_not_complete_is_refused() -> None:
    asked = spec()
    with pytest.raises(InputError, match="needs coordinates"):
        check(asked.model_copy(update={"molecule": asked.molecule.model_copy(update={"xyz": None, "smiles": "O"})}))
    with pytest.raises(InputError, match="charge: None is missing"):
        check(asked.model_copy(update={"charge": None}))
    with pytest.raises(InputError, match="method: 'BP86' is not computed by orca"):
        check(asked.model_copy(update={"method": "BP86"}))
