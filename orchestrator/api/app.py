"""The application: its routes, and how errors become answers."""

from __future__ import annotations

import structlog
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from kombu.exceptions import OperationalError
from pydantic import BaseModel
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from starlette.exceptions import HTTPException

from orchestrator.api import about, batches, events, files, jobs, library, memory, runs, stateless, workers
from orchestrator.api.context import Api, Unauthorised, authorise
from orchestrator.problems import BadInput, Problem, of_error, plain
from tasks import __version__
from tasks.errors import (
    Conflict,
    EngineUnavailable,
    InputError,
    LeaseLost,
    NotFound,
    Refused,
    SimrelayError,
    Unreachable,
)

log = structlog.get_logger()

_STATUS: dict[type[SimrelayError], int] = {
    Unauthorised: 401,
    NotFound: 404,
    Conflict: 409,
    LeaseLost: 409,
    InputError: 422,
    BadInput: 422,
    EngineUnavailable: 422,
    Refused: 503,
    Unreachable: 503,
}


class ErrorBody(BaseModel):
    """What every answer but a good one holds."""

    error: str
    #: class of the error in ``tasks.errors``
    kind: str
    exit_code: int = 1
    field: str | None = None
    value: str | int | float | bool | None = None
    problem: str | None = None
    remedy: str | None = None
    problems: tuple[Problem, ...] = ()


def make_api(api: Api) -> FastAPI:
    """Make the application of one service."""
    app = FastAPI(title="Simrelay", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.api = api
    app.include_router(about.open_routes)
    for routes in (about, runs, events, jobs, batches, stateless, files, workers, memory, library):
        app.include_router(routes.router, dependencies=[Depends(authorise)])
    app.add_exception_handler(SimrelayError, _ours)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RedisConnectionError, _redis)
    app.add_exception_handler(RedisTimeoutError, _redis)
    # An offer could not be published: what was asked for is done, and asking again changes nothing.
    app.add_exception_handler(OperationalError, _redis)
    app.add_exception_handler(Exception, _ours_alone)
    return app


def _answer(status: int, body: ErrorBody) -> JSONResponse:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse(body.model_dump(mode="json"), status, headers)


async def _ours(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, SimrelayError):
        raise error
    kind = next(known for known in type(error).__mro__ if known in _STATUS or known is SimrelayError)
    body = ErrorBody(error=str(error), kind=kind.__name__, exit_code=error.exit_code)
    if isinstance(error, InputError):
        body = body.model_copy(update=of_error(error).model_dump(exclude={"row"}))
    elif isinstance(error, BadInput):
        body = body.model_copy(update={"problems": error.problems})
    return _answer(_STATUS.get(kind, 500), body)


async def _malformed(request: Request, error: Exception) -> JSONResponse:
    """Answer a request whose shape is wrong."""
    if not isinstance(error, RequestValidationError):
        raise error
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"][1:]) or str(first["loc"][0])
    value = None if first["type"] == "missing" else plain(first.get("input"))
    message = str(first["msg"]).removeprefix("Value error, ")
    problem = f"{message[:1].lower()}{message[1:]}"
    return await _ours(request, InputError(field, value, f"is refused: {problem}", "See `simrelay schema`."))


async def _http(request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    detail = f"{request.method} {request.url.path}: {getattr(error, 'detail', error)}"
    return _answer(status, ErrorBody(error=detail, kind="NotFound" if status == 404 else "SimrelayError"))


async def _redis(request: Request, error: Exception) -> JSONResponse:
    return await _ours(request, Unreachable(f"Redis does not answer ({type(error).__name__})"))


async def _ours_alone(request: Request, error: Exception) -> JSONResponse:
    """Answer after a mistake of ours: its traceback goes to the log, never to the caller."""
    log.error("request_failed", method=request.method, path=request.url.path, exc_info=error)
    message = f"internal error ({type(error).__name__}); the orchestrator's log says more"
    return _answer(500, ErrorBody(error=message, kind="SimrelayError"))
