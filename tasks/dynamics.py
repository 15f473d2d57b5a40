"""The spec of a molecular dynamics simulation: what is in the box, the stages, and what is read from the trajectory.

Lengths of time can be given as people write them (``"1 ns"``); a bare number is in the unit of its field.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from tasks import units
from tasks.errors import InputError
from tasks.jobspec import Frozen, Job

CounterIon = Literal["hydroxide", "fluoride", "chloride", "bromide", "iodide"]
#: room beyond the cut-off that the pair list of a run needs (GROMACS: rlist >= rvdw, grown by the Verlet buffer), in nm
LIST_BUFFER_NM = 0.1
#: fewest frames that a line is fitted through
FEWEST_FRAMES = 3


def _picoseconds(value: object, info: ValidationInfo) -> float:
    return units.picoseconds(value, info.field_name or "")


Picoseconds = Annotated[float, BeforeValidator(_picoseconds)]
Kelvin = Annotated[float, BeforeValidator(units.kelvin)]


class Cation(Frozen):
    """A kind of cation and how many of it there are.

    Attributes
    ----------
    geometry
        Name of an XYZ file in ``inputs``: the structure with which it is put into the box, its atoms in the order of
        the canonical SMILES, the hydrogens after them. None: one is made from the SMILES.
    """

    smiles: str = Field(min_length=1, max_length=2000)
    count: int = Field(ge=1, le=5000)
    name: str = Field(default="", max_length=120)
    geometry: str | None = None


class Solution(Frozen):
    """A cubic box of cations, their counter-ions and water; without cations neat water.

    Attributes
    ----------
    counter_ions
        None: as many as make the box neutral, the only number that is accepted.
    water
        Number of water molecules; None: from ``waters_per_cation``, else as many as fill the box.
    waters_per_cation
        The hydration number λ.
    edge_nm
        Edge of the box at the beginning; None: from the composition and ``density_g_per_cm3``, or 2.6 nm if the number
        of water molecules is not given either.
    density_g_per_cm3
        Of the box at the beginning; None: 1.0. The NPT stage finds the density of the force field.
    """

    cations: tuple[Cation, ...] = ()
    counter_ion: CounterIon = "hydroxide"
    counter_ions: int | None = Field(default=None, ge=0)
    water: int | None = Field(default=None, ge=0, le=1_000_000)
    waters_per_cation: float | None = Field(default=None, ge=0, le=100_000)
    edge_nm: float | None = Field(default=None, gt=0, le=100)
    density_g_per_cm3: float | None = Field(default=None, ge=0.3, le=3)

    @model_validator(mode="after")
    def _composition(self) -> Self:
        cations = sum(one.count for one in self.cations)
        if self.waters_per_cation is not None:
            if not cations:
                raise InputError(
                    "system.waters_per_cation", self.waters_per_cation, "is given without cations", "Give water."
                )
            number = round(self.waters_per_cation * cations)
            if self.water is not None and self.water != number:
                problem = f"contradicts waters_per_cation, which makes {number}"
                raise InputError("system.water", self.water, problem, "Give one of the two.")
        if not cations and self.water == 0:
            raise InputError("system.water", 0, "leaves the box empty", "Give cations, water, or both.")
        if not cations and self.counter_ions:
            problem = "leave a box without cations charged"
            raise InputError("system.counter_ions", self.counter_ions, problem, "Give the cations, or leave them out.")
        return self


class OwnFiles(Frozen):
    """A system of the user's own: names of files in ``inputs`` (``.gro`` or ``.pdb`` with a box, and ``.top``)."""

    coordinates: str
    topology: str

    @model_validator(mode="after")
    def _suffixes(self) -> Self:
        if not self.coordinates.endswith((".gro", ".pdb")):
            problem = "is not the name of a .gro or .pdb file"
            raise InputError("files.coordinates", self.coordinates, problem, "Give the structure with its box.")
        if not self.topology.endswith(".top"):
            problem = "is not the name of a .top file"
            raise InputError("files.topology", self.topology, problem, "Give GROMACS' topology of the whole system.")
        return self


class Cluster(Frozen):
    """One cation with the counter-ions and waters nearest to it, to be taken out of the last frame of a trajectory.

    Attributes
    ----------
    cation, counter_ion
        Their names in the box.
    """

    cation: str = Field(min_length=1, max_length=120)
    counter_ion: CounterIon = "hydroxide"
    counter_ions: int = Field(default=1, ge=0, le=10)
    waters: int = Field(default=0, ge=0, le=50)

    @model_validator(mode="after")
    def _neighbours(self) -> Self:
        if not self.counter_ions and not self.waters:
            remedy = "Give counter_ions, waters, or both."
            raise InputError("analysis.cluster", self.cation, "is to be taken without any neighbour", remedy)
        return self


class Analysis(Frozen):
    """What is read from the trajectory of the production stage.

    Attributes
    ----------
    species
        Names of the molecules that mean square displacements are computed of: ``water``, a counter-ion's name, a
        cation's name or SMILES; for a system of one's own, names of molecule types. Empty: all.
    fit_window_ps
        From and to which time lag the line is fitted; None: from a tenth to half of a block.
    blocks
        Into how many parts the trajectory is cut for the errors, each the standard error of the parts' mean.
    cluster
        What is taken out of the last frame as a structure of its own; None: nothing.
    """

    species: tuple[str, ...] = ()
    fit_window_ps: tuple[Picoseconds, Picoseconds] | None = None
    blocks: int = Field(default=5, ge=3, le=100)
    cluster: Cluster | None = None


class DynamicsSpec(Job):
    """A chain of minimisation, NVT, NPT and production of one periodic system with GROMACS.

    Defaults of the stages (steepest descent to 1000 kJ/mol/nm, 100 ps NVT, 100 ps NPT, 2 fs with constrained bonds to
    hydrogen, cut-offs of 1.0 nm with PME and dispersion correction) are those of Lemkul's tutorials, Living J. Comp.
    Mol. Sci. 1 (2019) 5068.

    Attributes
    ----------
    system, files
        What is simulated; exactly one of them.
    minimisation_steps
        At most so many; the minimisation ends earlier when the largest force is below 1000 kJ/mol/nm.
    nvt_ps, npt_ps
        Length of the equilibration; 0: no such stage.
    ensemble
        Of the production.
    frame_spacing_ps
        Time between two frames of the trajectory, in whole picoseconds.
    cutoff_nm
        Of Coulomb (PME beyond it) and van der Waals forces (corrected for in energy and pressure beyond it).
    checkpoint_seconds
        How often the program writes a restart point.
    seed
        Of initial velocities, thermostat, barostat and packing.
    """

    kind: Literal["dynamics"] = "dynamics"
    task: Literal["molecular_dynamics"] = "molecular_dynamics"
    engine: Literal["auto", "gromacs"] = "gromacs"
    system: Solution | None = None
    files: OwnFiles | None = None
    minimisation_steps: int = Field(default=5000, ge=0, le=1_000_000)
    nvt_ps: Picoseconds = Field(default=100.0, ge=0, le=1e7)
    npt_ps: Picoseconds = Field(default=100.0, ge=0, le=1e7)
    production_ps: Picoseconds = Field(default=1000.0, gt=0, le=1e8)
    ensemble: Literal["NPT", "NVT"] = "NPT"
    temperature_kelvin: Kelvin = Field(default=298.15, ge=100, le=1000)
    pressure_bar: float = Field(default=1.0, gt=0, le=10_000)
    time_step_fs: float = Field(default=2.0, ge=0.1, le=2.5)
    frame_spacing_ps: Annotated[int, BeforeValidator(units.whole_picoseconds)] = Field(default=1, ge=1, le=100_000)
    cutoff_nm: float = Field(default=1.0, ge=0.8, le=2.0)
    checkpoint_seconds: float = Field(default=60.0, ge=1, le=3600)
    seed: int = Field(default=2024, ge=1, le=2**31 - 1)
    analysis: Analysis = Analysis()

    @field_validator("engine", mode="before")
    @classmethod
    def _only_engine(cls, value: object) -> object:
        return "gromacs" if value == "auto" else value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.system is None) == (self.files is None):
            problem = "is missing" if self.system is None else "is given together with files"
            remedy = "Give either system (cations, water, box), or files (coordinates and topology) with inputs."
            raise InputError("system", None if self.system is None else "…", problem, remedy)
        if self.files:
            self._check_files(self.files)
        self._check_geometries()
        self._check_cluster()
        self._check_times()
        self._check_window()
        edge = self.system.edge_nm if self.system else None
        if edge is not None and edge < smallest_edge_nm(self.cutoff_nm):
            raise box_too_small(edge, self.cutoff_nm)
        return self

    def _check_files(self, files: OwnFiles) -> None:
        for field, name in (("coordinates", files.coordinates), ("topology", files.topology)):
            if name not in self.inputs:
                known = ", ".join(sorted(self.inputs)) or "none"
                remedy = f"Name it in inputs, by its path in the workspace and its SHA-256 (inputs: {known})."
                raise InputError(f"files.{field}", name, "is not among the inputs", remedy)

    def _check_geometries(self) -> None:
        for number, cation in enumerate(self.system.cations if self.system else ()):
            if cation.geometry is not None and cation.geometry not in self.inputs:
                remedy = "Name the XYZ file in inputs, by its path in the workspace and its SHA-256."
                field = f"system.cations.{number}.geometry"
                raise InputError(field, cation.geometry, "is not among the inputs", remedy)

    def _check_cluster(self) -> None:
        cluster = self.analysis.cluster
        if cluster is None:
            return
        known = [one.name or one.smiles for one in self.system.cations] if self.system else []
        if cluster.cation not in known:
            remedy = f"Possible are {', '.join(known) or 'cations of a system, not of files of your own'}."
            raise InputError("analysis.cluster.cation", cluster.cation, "is no cation of the box", remedy)
        if self.system and cluster.counter_ions and cluster.counter_ion != self.system.counter_ion:
            remedy = f"Possible is {self.system.counter_ion}."
            raise InputError("analysis.cluster.counter_ion", cluster.counter_ion, "is not in the box", remedy)

    def _check_times(self) -> None:
        steps = self.frame_spacing_ps * 1000 / self.time_step_fs
        if abs(steps - round(steps)) > 1e-6:
            problem = f"does not divide the frame spacing of {self.frame_spacing_ps} ps"
            raise InputError("time_step_fs", self.time_step_fs, problem, "Take 2, 1 or 0.5 fs.")
        for name in ("nvt_ps", "npt_ps"):
            length = float(getattr(self, name))
            if abs(length - round(length)) > 1e-9:
                raise InputError(name, length, "is not a whole number of picoseconds", "Give for example '100 ps'.")
        frames = self.production_ps / self.frame_spacing_ps
        if abs(frames - round(frames)) > 1e-9 or frames < 1:
            problem = f"is not a multiple of the frame spacing of {self.frame_spacing_ps} ps"
            raise InputError("production_ps", self.production_ps, problem, "Change one of the two.")

    def _check_window(self) -> None:
        if self.analysis.fit_window_ps is None:
            return
        start, end = self.analysis.fit_window_ps
        block = self.production_ps / self.analysis.blocks
        if not 0 <= start < end <= block:
            problem = f"does not lie within a block of {block:g} ps ({self.analysis.blocks} blocks of the production)"
            remedy = f"Give a start below an end, and an end of at most {block:g} ps; or simulate longer."
            raise InputError("analysis.fit_window_ps", f"{start:g} to {end:g} ps", problem, remedy)
        if (end - start) / self.frame_spacing_ps < FEWEST_FRAMES - 1:
            problem = f"holds fewer than {FEWEST_FRAMES} frames, {self.frame_spacing_ps} ps apart"
            remedy = "Widen it, or write frames more often."
            raise InputError("analysis.fit_window_ps", f"{start:g} to {end:g} ps", problem, remedy)

    def window_ps(self) -> tuple[float, float] | None:
        """Give the lags between which the line is fitted; None: the production is too short for one."""
        if self.analysis.fit_window_ps:
            return self.analysis.fit_window_ps
        spacing = self.frame_spacing_ps
        block = int(self.production_ps / self.analysis.blocks / spacing)
        first, last = max(1, round(block / 10)), block // 2
        return (first * spacing, last * spacing) if last - first >= FEWEST_FRAMES - 1 else None


def smallest_edge_nm(cutoff_nm: float) -> float:
    """Give the shortest edge of a box in which no molecule sees two images of another."""
    return round(2 * (cutoff_nm + LIST_BUFFER_NM), 6)


def box_too_small(edge_nm: float, cutoff_nm: float, water: int | None = None) -> InputError:
    """Say that a box is too small for its cut-off; ``water`` is a number of molecules that would do."""
    smallest = smallest_edge_nm(cutoff_nm)
    enough = f"{water} water molecules" if water else "more molecules"
    problem = f"is too small for a cut-off of {cutoff_nm:g} nm, which needs {smallest:g} nm"
    smaller = f", or a cut-off of at most {edge_nm / 2 - LIST_BUFFER_NM:.2f} nm (0.8 nm or more)"
    remedy = f"Take {enough}{smaller if edge_nm >= smallest_edge_nm(0.8) else ''}."
    return InputError("system.edge_nm", f"{edge_nm:.2f} nm", problem, remedy)
