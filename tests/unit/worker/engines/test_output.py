"""Reading outputs: the tail of a long log, and what exit codes and words say."""

from __future__ import annotations

from pathlib import Path

import pytest

from worker.engines.base import Exit
from worker.engines.output import failure_from_log, killing_signal, last_line, tail


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "output.log"
    assert tail(log) == []
    assert last_line(log) == ""
    log.write_text("".join(f"line {n}\n" for n in range(100_000)) + "\n  \n")
    assert last_line(log) == "line 99999"
    assert len(tail(log, 1000)) < 110


@pytest.mark.parametrize(
    ("text", "code", "error_class"),
    [
        ("numpy: Unable to allocate 3 GiB", 1, "out_of_memory"),
        ("terminate called after throwing an instance of 'std::bad_alloc'", -6, "out_of_memory"),
        ("OSError: [Errno 28] No space left on device", 1, "disk_full"),
        ("step 1", -9, "killed"),
        ("step 1", 137, "killed"),
        ("step 1", 143, "killed"),
        ("step 1", -11, "program_failed"),
        ("step 1", 1, "program_failed"),
        ("step 1", 0, "program_failed"),
    ],
)
def test_a_failure_is_told_from_the_output_first_and_then_from_the_exit(
    tmp_path: Path, text: str, code: int, error_class: str
) -> None:
    log = tmp_path / "output.log"
    log.write_text(f"{text}\n")
    assert failure_from_log(log, [Exit(code=code)]).error_class == error_class


@pytest.mark.parametrize(("code", "number"), [(-9, 9), (137, 9), (0, 0), (1, 0), (75, 0), (128, 0), (255, 0)])
def test_a_signal_is_seen_behind_either_form_of_exit_code(code: int, number: int) -> None:
    assert killing_signal(code) == number
