"""Declared programs: what a declaration may be, what users may set, and that a value stays one argument."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.errors import ConfigurationError, InputError
from tasks.programs import (
    ProgramDeclaration,
    find_program,
    load_programs,
    render,
    validate_parameters,
    within_limits,
)
from tasks.specs import ProgramSpec, Resources

RELAX = """
[programs.relax]
description = "Relaxes a lattice"
command = ["/usr/bin/relax", "--steps", "{steps}", "--name=run-{name}", "-j{cores}", "{mode}", "{tolerance}"]
success = "^finished normally$"
progress = 'step (?P<step>\\d+) of (?P<total>\\d+)'
values = { energy = 'energy = (\\S+)' }
checkpoint = ["state.json"]
results = ["out/final.dat"]
restart_arguments = ["--restart", "state.json", "--memory", "{memory_mb}"]
stop_grace_seconds = 5

[programs.relax.parameters]
steps = { type = "integer", minimum = 1, maximum = 1000, default = 100 }
tolerance = { type = "number", minimum = 0, default = 1e-5 }
mode = { type = "choice", choices = ["fast", "careful"], default = "fast" }
name = { type = "string" }

[programs.relax.limits]
cores = 4
memory = "4 GB"
walltime = "02:00:00"

[programs.relax.environment]
LICENCE = "secret"
"""


def load(tmp_path: Path, text: str = RELAX) -> dict[str, ProgramDeclaration]:
    path = tmp_path / "programs.toml"
    path.write_text(text)
    return load_programs(path)


@pytest.fixture
def relax(tmp_path: Path) -> ProgramDeclaration:
    return load(tmp_path)["relax"]


def asked(**parameters: str | int | float | bool) -> ProgramSpec:
    # A spec asks for a day if it says nothing; the limit here is two hours.
    return ProgramSpec(
        program="relax", parameters={"name": "iron", **parameters}, resources=Resources(walltime_seconds=3600)
    )


def test_parameters_are_completed_with_defaults_and_rendered(relax: ProgramDeclaration) -> None:
    parameters = validate_parameters(asked(steps=7), relax)
    assert parameters == {"steps": 7, "tolerance": 1e-5, "mode": "fast", "name": "iron"}
    rendered = ("/usr/bin/relax", "--steps", "7", "--name=run-iron", "-j2", "fast", "1e-05")
    assert render(relax, parameters, cores=2, memory_mb=900) == rendered
    restarted = render(relax, parameters, cores=2, memory_mb=900, restart=True)
    assert restarted == (*rendered, "--restart", "state.json", "--memory", "900")


def test_the_cells_of_a_table_are_what_the_declaration_says(relax: ProgramDeclaration) -> None:
    parameters = validate_parameters(asked(steps="007", tolerance="1e-3", name="007"), relax)
    assert parameters == {"steps": 7, "tolerance": 1e-3, "mode": "fast", "name": "007"}


def test_a_declaration_survives_the_way_through_json_without_its_environment(relax: ProgramDeclaration) -> None:
    text = relax.registered().model_dump_json()
    assert "secret" not in text
    again = ProgramDeclaration.model_validate_json(text)
    assert again == relax.registered()
    assert validate_parameters(asked(), again) == validate_parameters(asked(), relax)
    assert relax.limits.model_dump() == {"cores": 4, "memory_mb": 4096, "walltime_seconds": 7200}


@pytest.mark.parametrize(
    ("parameters", "field", "message"),
    [
        ({"colour": 1}, "colour", "is not a parameter of relax. It has mode, name, steps, tolerance."),
        ({"steps": 0}, "steps", "0 is out of range. Give a whole number from 1 up to 1000."),
        ({"steps": 1001}, "steps", "is out of range"),
        ({"steps": 1.5}, "steps", "is not a whole number"),
        ({"steps": "seven"}, "steps", "is not a whole number"),
        ({"steps": "7.5"}, "steps", "is not a whole number"),
        ({"tolerance": "nan"}, "tolerance", "is not a number"),
        ({"steps": True}, "steps", "is not a whole number"),
        ({"steps": 10**400}, "steps", "is not a whole number"),
        ({"tolerance": float("nan")}, "tolerance", "is not a number. Give a number from 0."),
        ({"tolerance": float("inf")}, "tolerance", "is not a number"),
        ({"tolerance": -1}, "tolerance", "is out of range"),
        ({"mode": "slow"}, "mode", "'slow' is not one of the choices. Give one of fast, careful."),
        ({"mode": 1}, "mode", "is not a text"),
        ({"name": 5}, "name", "is not a text"),
        ({"name": "-rf"}, "name", "begins with '-' and could be taken for an option"),
        ({"name": "../../etc/passwd"}, "name", "is not an allowed text"),
        ({"name": "/etc/passwd"}, "name", "is not an allowed text"),
        ({"name": ".."}, "name", "is not an allowed text"),
        ({"name": "two words"}, "name", "is not an allowed text"),
        ({"name": "a\n"}, "name", "is not an allowed text"),
        ({"name": "a\0b"}, "name", "is not an allowed text"),
        ({"name": ""}, "name", "is not an allowed text"),
    ],
)
def test_each_mistake_of_a_user_is_one_clear_error(
    relax: ProgramDeclaration, parameters: dict[str, str | int | float | bool], field: str, message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        validate_parameters(asked(**parameters), relax)
    assert caught.value.field == f"parameters.{field}"


def test_a_missing_parameter_and_an_unknown_program_are_named(relax: ProgramDeclaration) -> None:
    with pytest.raises(InputError, match=re.escape("parameters.name: '' is missing. relax needs it: give a text")):
        validate_parameters(ProgramSpec(program="relax"), relax)
    with pytest.raises(InputError, match=re.escape("is not declared by any worker. Declared are relax.")):
        find_program("relux", {"relax": relax})
    with pytest.raises(InputError, match=re.escape("No worker declares any program.")):
        find_program("relax", {})


@pytest.mark.parametrize(
    ("resources", "field"),
    [({"cores": 5}, "cores"), ({"memory": "5 GB"}, "memory_mb"), ({"walltime": "3 h"}, "walltime_seconds")],
)
def test_a_job_cannot_ask_for_more_than_the_limits(
    relax: ProgramDeclaration, resources: dict[str, object], field: str
) -> None:
    within = {"cores": 4, "memory": "4 GB", "walltime": "2 h"}
    spec = {"program": "relax", "parameters": {"name": "iron"}}
    validate_parameters(ProgramSpec.model_validate({**spec, "resources": within}), relax)
    with pytest.raises(InputError, match="is more than relax may use") as caught:
        validate_parameters(ProgramSpec.model_validate({**spec, "resources": {**within, **resources}}), relax)
    assert caught.value.field == f"resources.{field}"


def one_string(pattern: str | None) -> ProgramDeclaration:
    parameter = {"type": "string"} if pattern is None else {"type": "string", "pattern": pattern}
    given = {"command": ["/bin/echo", "{name}", "x{name}y"], "success": "ok", "parameters": {"name": parameter}}
    return ProgramDeclaration.model_validate(given)


@pytest.mark.parametrize(("pattern", "allowed"), [(".*", False), ("-?[0-9]+", True), ("^-?[0-9]+$", True)])
def test_a_value_may_look_like_an_option_only_if_the_pattern_says_so(pattern: str, allowed: bool) -> None:
    spec = ProgramSpec(program="echo", parameters={"name": "-5"})
    if allowed:
        assert validate_parameters(spec, one_string(pattern)) == {"name": "-5"}
    else:
        with pytest.raises(InputError, match="begins with '-'"):
            validate_parameters(spec, one_string(pattern))


@given(st.text(min_size=1, max_size=60))
def test_whatever_a_value_holds_it_stays_one_argument(value: str) -> None:
    declaration = one_string(r"(?s).*")
    spec = ProgramSpec(program="echo", parameters={"name": value})
    try:
        parameters = validate_parameters(spec, declaration)
    except InputError:
        return
    assert render(declaration, parameters, cores=1, memory_mb=1) == ("/bin/echo", value, f"x{value}y")


@given(st.from_regex(r"\A(?:[A-Za-z0-9_./ ;|&$-]{0,8})\Z"))
def test_what_the_default_pattern_allows_is_no_option_no_path_and_nothing_to_a_shell(value: str) -> None:
    try:
        validate_parameters(ProgramSpec(program="echo", parameters={"name": value}), one_string(None))
    except InputError:
        return
    assert not value.startswith(("-", ".", "/"))
    assert "/" not in value
    assert shlex.split(value) == [value]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('success = "^finished normally$"', "", "programs.relax.success: is missing"),
        ('success = "^finished normally$"', 'success = "("', "programs.relax.success: '(' is not a regular expression"),
        ('description = "Relaxes a lattice"', "colour = 1", "programs.relax.colour: is not a known key"),
        ('"{mode}", ', "", "programs.relax: parameters.mode does not occur in the command"),
        ('"{mode}"', '"{moed}"', "programs.relax: command: {moed} is not declared as a parameter"),
        ('"/usr/bin/relax"', '"{name}"', "the program itself cannot be a placeholder"),
        ("(?P<step>", "(?P<stop>", "progress needs named groups out of step, total and text"),
        ("energy = (\\S+)", "energy = \\S+", "values.energy needs exactly one group"),
        ('checkpoint = ["state.json"]', 'checkpoint = ["../state.json"]', "programs.relax.checkpoint.0: "),
        ('checkpoint = ["state.json"]', "", "restart_arguments without checkpoint files would never be used"),
        ('["out/final.dat"]', '["/etc/passwd"]', "is not the name of a file in the program's working directory"),
        ('["out/final.dat"]', '["out/../../x"]', "is not the name of a file in the program's working directory"),
        ("default = 100 }", "default = 1001 }", "programs.relax.parameters.steps: default: 1001 is out of range"),
        ("default = 100 }", "required = false }", "required = false needs a default"),
        ("default = 100 }", "default = 1, required = true }", "contradict each other"),
        ('name = { type = "string" }', 'name = { type = "text" }', "programs.relax.parameters.name.type: "),
        ('choices = ["fast", "careful"], ', "", "choices belong to type = 'choice'"),
        ('name = { type = "string" }', 'name = { type = "string", minimum = 1 }', "belong to numbers only"),
        ('name = { type = "string" }', 'name = { type = "string", pattern = "[" }', "is not a regular expression"),
        ("[programs.relax]\n", "[program.relax]\n", "program: is not known here"),
        ('memory = "4 GB"', 'memory = "many"', "programs.relax.limits: limits.memory: 'many' is not an amount"),
        ("[programs.relax]\n", "[programs.relax\n", "cannot be read"),
    ],
)
def test_each_mistake_of_an_operator_is_named_with_file_and_key(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in RELAX
    with pytest.raises(ConfigurationError, match=re.escape(message)) as caught:
        load(tmp_path, RELAX.replace(old, new, 1))
    assert str(tmp_path / "programs.toml") in str(caught.value)


def test_no_file_declares_no_programs_and_a_wrong_name_is_refused(tmp_path: Path) -> None:
    assert load_programs(tmp_path / "absent.toml") == {}
    with pytest.raises(ConfigurationError, match=r"programs\.\.\./x: is not a name"):
        load(tmp_path, '[programs."../x"]\ncommand = ["/bin/true"]\nsuccess = "ok"\n')
    with pytest.raises(ConfigurationError, match="programs: is not a table"):
        load(tmp_path, "programs = 1\n")


def test_a_walltime_that_is_left_open_is_at_most_the_programs_limit() -> None:
    declaration = ProgramDeclaration.model_validate(
        {"command": ["/bin/true"], "success": "ok", "limits": {"walltime": "2 h", "cores": 4}}
    )
    assert within_limits(ProgramSpec(program="p"), declaration).resources.walltime_seconds == 7200
    asked = ProgramSpec.model_validate({"program": "p", "resources": {"walltime": "1 h"}})
    assert within_limits(asked, declaration) == asked
    too_long = ProgramSpec.model_validate({"program": "p", "resources": {"walltime": "3 h"}})
    with pytest.raises(InputError, match="more than p may use"):
        validate_parameters(within_limits(too_long, declaration), declaration)
