"""PubChem, asked for what a table of ours cannot know: structures of names, IUPAC names, CAS numbers.

PUG REST: Kim et al., Nucleic Acids Res. 2018, 46, W563, doi:10.1093/nar/gky294. Requests are POSTs, so that a name may
hold any character. PubChem wants at most five requests a second from one address; a header says how near that is.
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from tasks.errors import Unreachable

#: a network that is not there is noticed within this; PubChem itself ends a request after 30 s
_TIMEOUT = httpx.Timeout(8.0, connect=3.0)
#: each of the service's two processes keeps this between two requests: together four a second
_SPACING_SECONDS = 0.5
#: how much longer that is by what PubChem says of our traffic
_SLOWER = {"yellow": 2.0, "red": 4.0, "black": 8.0}
_ATTEMPTS = 3
_BACK_OFF_SECONDS = 1.0
_LONGEST_WAIT_SECONDS = 5.0
_PROPERTIES = "SMILES,InChIKey,MolecularFormula,Charge,IUPACName,Title"
_REGISTRY_NUMBER = re.compile(r"(\d{2,7})-(\d{2})-(\d)")


@dataclass(frozen=True, kw_only=True)
class Record:
    """What PubChem holds of one compound; ``iupac_name`` is computed there, and empty where it could not be."""

    cid: int
    smiles: str
    inchikey: str
    formula: str
    charge: int
    iupac_name: str
    title: str


class _Pace:
    """The time between requests, for all threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next = 0.0
        self._factor = 1.0

    def wait(self) -> None:
        """Wait for the next turn."""
        with self._lock:
            now = time.monotonic()
            mine = max(now, self._next)
            self._next = mine + _SPACING_SECONDS * self._factor
        time.sleep(mine - now)

    def heed(self, header: str) -> None:
        """Go as slowly as the header of an answer wants: ``Request Count status: Yellow (60%), …``."""
        said = [_SLOWER.get(word.lower(), 1.0) for word in re.findall(r"status:\s*(\w+)", header)]
        with self._lock:
            self._factor = max(said, default=1.0)


_PACE = _Pace()


class PubChem:
    """A PUG REST service at an address, such as ``https://pubchem.ncbi.nlm.nih.gov/rest/pug``."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def by_name(self, name: str) -> list[Record]:
        """Give the compounds of a name or CAS number, the best first; none: PubChem has no such name.

        Raises
        ------
        Unreachable
            If there is no answer, or none that can be read; this says nothing about the name.
        """
        return self._records("name", name)

    def by_inchikey(self, key: str) -> list[Record]:
        """Give the compounds of an InChIKey; raises as ``by_name``."""
        return self._records("inchikey", key)

    def synonyms(self, cid: int) -> list[str]:
        """Give all names of a compound, the most used first; raises as ``by_name``."""
        body = self._ask("compound/cid/synonyms/JSON", {"cid": str(cid)})
        try:
            rows = body["InformationList"]["Information"] if body else []
            return [str(name) for row in rows for name in row.get("Synonym", ())]
        except (KeyError, TypeError, AttributeError) as error:
            raise self._failed("answered with what is no list of names") from error

    def _records(self, namespace: str, identifier: str) -> list[Record]:
        body = self._ask(f"compound/{namespace}/property/{_PROPERTIES}/JSON", {namespace: identifier})
        try:
            return [_record(row) for row in body["PropertyTable"]["Properties"]] if body else []
        except (KeyError, TypeError, ValueError) as error:
            raise self._failed("answered with what is no list of compounds") from error

    def _ask(self, path: str, form: dict[str, str]) -> Any:
        """Give the answer as JSON has it; None: there is no such thing (HTTP 404)."""
        why = ""
        for attempt in range(1, _ATTEMPTS + 1):
            _PACE.wait()
            pause = _BACK_OFF_SECONDS * 2 ** (attempt - 1)
            try:
                answer = httpx.post(
                    f"{self.url}/{path}",
                    data=form,
                    timeout=_TIMEOUT,
                    trust_env=urlsplit(self.url).hostname not in ("127.0.0.1", "localhost", "::1"),
                )
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                # A network that is not there does not come while somebody waits for an answer.
                raise self._failed("could not be reached") from error
            except httpx.TimeoutException:
                why = f"did not answer within {_TIMEOUT.read:g} s"
                if attempt == 2:
                    break
                continue
            except httpx.HTTPError as error:
                why = f"broke off its answer ({type(error).__name__})"
                continue
            _PACE.heed(answer.headers.get("x-throttling-control", ""))
            if answer.status_code == 404:
                return None
            if answer.status_code in (429, 500, 502, 503, 504):
                why = f"is busy (HTTP {answer.status_code})"
                if attempt < _ATTEMPTS:
                    time.sleep(min(_seconds(answer.headers.get("retry-after", "")) or pause, _LONGEST_WAIT_SECONDS))
                continue
            if answer.status_code != 200:
                raise self._failed(f"refused the question (HTTP {answer.status_code})")
            try:
                return answer.json()
            except ValueError as error:
                raise self._failed("answered with what is no JSON") from error
        raise self._failed(why)

    def _failed(self, why: str) -> Unreachable:
        return Unreachable(f"PubChem {why} at {urlsplit(self.url).netloc}")


def is_registry_number(text: str) -> bool:
    """Tell whether a text is a CAS registry number: its form, and its last digit, which checks the others."""
    match = _REGISTRY_NUMBER.fullmatch(text)
    return match is not None and check_digit(text) == int(match[3])


def check_digit(number: str) -> int:
    """Give the check digit that belongs to a CAS number: its other digits, from the right, times 1, 2, …, modulo 10."""
    digits = number.replace("-", "")[-2::-1]
    return sum(place * int(digit) for place, digit in enumerate(digits, 1)) % 10


def registry_numbers(synonyms: list[str]) -> list[str]:
    """Give the CAS numbers among the names of a compound, in their order."""
    bare = (name.strip().removeprefix("CAS-").removeprefix("CAS ") for name in synonyms)
    return list(dict.fromkeys(name for name in bare if is_registry_number(name)))


def _record(row: dict[str, Any]) -> Record:
    return Record(
        cid=int(row["CID"]),
        # Until 2025 it was called IsomericSMILES, and mirrors still do.
        smiles=str(row.get("SMILES") or row["IsomericSMILES"]),
        inchikey=str(row["InChIKey"]),
        formula=str(row["MolecularFormula"]),
        charge=int(row["Charge"]),
        iupac_name=str(row.get("IUPACName", "")),
        title=str(row.get("Title", "")),
    )


def _seconds(text: str) -> float:
    return float(text) if re.fullmatch(r"\d{1,4}", text) else 0.0
