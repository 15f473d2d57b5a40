"""Molecular dynamics from its spec to densities and diffusion coefficients, against the literature."""

from __future__ import annotations

import csv
import math

import pytest

from tasks.records import JobState
from tasks.settings import Settings
from tasks.store import Store
from tests.integration.dynamics.conftest import result_of, water
from tests.integration.worker.conftest import StartWorker, artifact_path, submit, wait_for


def test_a_small_box_of_water_gives_tables_a_figure_and_a_result_with_its_caveats(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker(cores=1)
    (done,) = submit(submitting, water(production_ps=30, analysis={"species": ["water"], "blocks": 3}))
    record = wait_for(submitting, done, JobState.SUCCEEDED, JobState.FAILED, seconds=200)
    assert record.state is JobState.SUCCEEDED, record.failure
    result = result_of(submitting, done)
    assert result.molecules == {"water": 205}
    assert result.atoms == 615
    # 205 molecules of 18.0154 g/mol in 1.87³ nm³, which NVT leaves as it is
    assert result.density_g_per_cm3.value == pytest.approx(205 * 18.0154 / 602.214 / 1.87**3, rel=1e-3)
    assert result.temperature_kelvin.value == pytest.approx(298.15, abs=15)
    (water_diffusion,) = result.diffusion
    assert (water_diffusion.fit_start_ps, water_diffusion.fit_end_ps) == (1, 5)
    # The order of magnitude of liquid water; the number itself is tested against the literature below.
    assert 1e-9 < water_diffusion.coefficient_m2_per_s < 5e-9
    assert any("Grotthuss" in caveat for caveat in result.caveats)
    assert "SPC/E" in result.level and result.engine_version.startswith("20")
    with artifact_path(settings, record, "msd").open() as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["lag_ps", "msd_nm2 water"]
    assert [float(value) for value in rows[1]] == [0, 0]
    assert len(rows) == 32
    assert artifact_path(settings, record, "figure").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_spc_e_water_has_the_density_and_diffusion_of_the_literature(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    """SPC/E: Berendsen, Grigera, Straatsma, J. Phys. Chem. 91 (1987) 6269; 0.998 g/cm³ there, 216 molecules at 306 K.

    Diffusion: Tazi et al., J. Phys.: Condens. Matter 24 (2012) 284117, which extrapolates to an infinite box by Yeh and
    Hummer, J. Phys. Chem. B 108 (2004) 15873: D0 = D + 2.837297 kT / (6 pi eta L), as that paper's abstract has it.
    The numbers of the other two (0.998 g/cm³; 2.97e-9 m²/s and 0.64 mPa s at 298 K) are quoted from memory: only the
    abstract of the second could be read when they were checked. With another value for the viscosity of SPC/E, 0.729
    mPa s at 298 K (SklogWiki, "SPC/E model of water"), what is expected in a box of 2.48 nm rises from 2.58e-9 to
    2.63e-9 m²/s, by less than the tolerance.
    """
    start_worker(cores=2)
    spec = {
        "kind": "dynamics",
        "system": {"water": 512},
        "nvt_ps": 10,
        "npt_ps": 60,
        "production_ps": 200,
        "temperature_kelvin": 298.15,
        "resources": {"cores": 2},
    }
    from orchestrator.chemistry.solutions import complete_dynamics
    from tasks.dynamics import DynamicsSpec
    from tasks.specs import dump_spec

    complete = complete_dynamics(DynamicsSpec.model_validate(spec), 400)
    (done,) = submit(submitting, dump_spec(complete))
    record = wait_for(submitting, done, JobState.SUCCEEDED, JobState.FAILED, seconds=3000)
    assert record.state is JobState.SUCCEEDED, record.failure
    result = result_of(submitting, done)
    print(result.density_g_per_cm3, result.temperature_kelvin, result.diffusion, result.nanoseconds_per_day)
    assert result.density_g_per_cm3.error is not None
    assert result.density_g_per_cm3.value == pytest.approx(0.998, abs=0.005 + 2 * result.density_g_per_cm3.error)
    (found,) = result.diffusion
    correction = 2.837297 * 1.380649e-23 * 298.15 / (6 * math.pi * 0.64e-3 * result.edge_nm * 1e-9)
    expected = 2.97e-9 - correction
    assert found.coefficient_m2_per_s == pytest.approx(expected, abs=0.15e-9 + 2 * found.error_m2_per_s)
    assert found.error_m2_per_s < 0.3e-9
