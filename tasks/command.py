"""The console script: collects the commands of the rooms that are installed, and turns errors into exit codes.

Each room names its commands under the entry-point group ``simrelay.commands``. A host has those of its rooms; what
belongs to another room says so. A room is loaded only when one of its commands is called, so starting stays fast.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tasks import __version__
from tasks.errors import ConfigurationError, SimrelayError

_GROUP = "simrelay.commands"
_WORKER = "worker"
_ROOMS = ("tasks", "worker", "orchestrator")
#: commands of the worker that stand at the top, since they are about this host and not about its worker
_OF_HOST = {"doctor": "Tell what this host is able to compute, and what is wrong."}
_INTERRUPTED = 130
_WORKER_HELP = "Serve jobs on this host, find its engines, or list all workers."


def _version(shown: bool) -> None:
    if shown:
        typer.echo(f"simrelay {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", callback=_version)] = False,
) -> None:
    """Carry long molecular simulations for a graph of agents, and lose none of them."""


def _new(help_text: str = "") -> typer.Typer:
    return typer.Typer(
        help=help_text or None, no_args_is_help=True, add_completion=True, pretty_exceptions_enable=False
    )


class NotInstalled(ConfigurationError):
    """A command belongs to a room that this host was installed without."""

    def __init__(self, room: str, missing: str = "") -> None:
        package = f" (there is no {missing})" if missing else ""
        super().__init__(f"this host was installed without the {room}{package}: pip install 'simrelay[{room}]'")


def _load(room: str) -> TyperGroup | None:
    """Load a room's commands; None if it is not installed."""
    found = entry_points(group=_GROUP, name=room)
    for point in found:
        try:
            return typer.main.get_group(point.load())
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] in _ROOMS and error.name != point.module:
                raise
            return None
    return None


def build(arguments: Sequence[str]) -> TyperGroup:
    """Give the whole command line, with as much of it loaded as these arguments need."""
    app = _new()
    app.callback()(_root)
    root = typer.main.get_group(app)
    orchestrator = _load("orchestrator")
    if orchestrator:
        root.commands.update(orchestrator.commands)
    of_service = root.commands.pop(_WORKER, None)
    more = of_service.commands if isinstance(of_service, TyperGroup) else {}
    asked = next((word for word in arguments if not word.startswith("-")), "")
    following = arguments[list(arguments).index(asked) + 1 :] if asked else ()
    # `worker list` is the service's; only what is the worker's own has to load the worker.
    own = asked in _OF_HOST or (asked == _WORKER and not any(word in more for word in following[:1]))
    group = _load(_WORKER) if own else _placeholder()
    if group is None:
        raise NotInstalled(_WORKER)
    group.commands.update(more)
    root.commands[_WORKER] = group
    for name, text in _OF_HOST.items():
        root.commands[name] = group.commands.pop(name) if name in group.commands else _promise(name, text)
    if not orchestrator and asked and asked not in root.commands:
        raise NotInstalled("orchestrator")
    return root


def _promise(name: str, text: str) -> TyperGroup:
    """Give a command for the list of commands that is not loaded."""
    app = _new(text)
    app.callback()(lambda: None)
    promised = typer.main.get_group(app)
    promised.name = name
    return promised


def _placeholder() -> TyperGroup:
    """Give the worker's group as far as it is known without loading it."""
    app = _new(_WORKER_HELP)
    app.callback()(lambda: None)
    group = typer.main.get_group(app)
    group.name = _WORKER
    return group


def run(arguments: Sequence[str]) -> int:
    """Run one command line; gives its exit code."""
    try:
        return _exit_code(build(arguments).main(list(arguments), prog_name="simrelay", standalone_mode=False))
    except SimrelayError as error:
        return _say(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in _ROOMS:
            raise
        missing = NotInstalled(_room_of(arguments), error.name or "")
        return _say(str(missing), missing.exit_code)
    except typer.Abort:
        return _say("interrupted", _INTERRUPTED)
    except KeyboardInterrupt:
        return _say("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the answer has seen enough; Python must not complain when it closes the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        shown = getattr(error, "show", None)
        if not callable(shown):
            raise
        shown()
        return int(getattr(error, "exit_code", 2))


def _exit_code(result: Any) -> int:
    sys.stdout.flush()
    return result if isinstance(result, int) and not isinstance(result, bool) else 0


def _room_of(arguments: Sequence[str]) -> str:
    words = [word for word in arguments if not word.startswith("-")]
    return _WORKER if words[:1] == [_WORKER] and words[1:2] != ["list"] else "orchestrator"


def _say(text: str, code: int) -> int:
    for line in text.splitlines() or [""]:
        sys.stderr.write(line + "\n" if line.startswith(" ") else f"error: {line}\n")
    return code


def main() -> None:
    """Run the command line of this process."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
