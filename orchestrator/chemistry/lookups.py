"""Molecules by a name, CAS number or InChIKey that our table does not have, and names of molecules: looked up, checked.

PubChem is a collection by many depositors: what it gives is taken only if it is one compound, its name is exactly the
one that was asked for, and RDKit reads the structure with the charge and InChIKey that PubChem states.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from orchestrator.chemistry.lines import to_inchi
from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, identify
from orchestrator.chemistry.names import Named, same_name
from orchestrator.chemistry.pubchem import PubChem, Record, is_registry_number, registry_numbers
from tasks.errors import InputError, Unreachable

_FIELD = "molecule"
_GIVE = "Give its SMILES in quotes, for example 'C[N+](C)(C)C'"
_INCHIKEY = re.compile(r"[A-Z]{14}-[A-Z]{10}-[A-Z]")
_SKELETON = 14
_LONGEST = 200
_SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Names:
    """What PubChem calls a molecule; ``cas`` with the most used number first."""

    cid: int
    iupac_name: str
    title: str
    cas: tuple[str, ...]
    source: str


def find_compound(name: str, url: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> Named:
    """Look up a molecule by its name, CAS number or InChIKey.

    Parameters
    ----------
    url
        Address of PubChem's PUG REST.

    Raises
    ------
    InputError
        If there is none of that name, or several; if PubChem cannot be reached; if what it gives does not fit.
    """
    service = PubChem(url)
    by_key, by_number = bool(_INCHIKEY.fullmatch(name)), is_registry_number(name)
    what = "an InChIKey" if by_key else "a CAS number" if by_number else "a name"
    if len(name) > _LONGEST:
        raise InputError(_FIELD, name, f"is too long for {what}", f"{_GIVE}.")
    try:
        records = service.by_inchikey(name) if by_key else service.by_name(name)
        if not records:
            problem = f"is {what} that neither the table of names nor PubChem has"
            raise InputError(_FIELD, name, problem, f"Check its spelling. {_GIVE}.")
        record = _one_of(records, name)
        names = [record.title, record.iupac_name, *([] if by_key else service.synonyms(record.cid))]
    except Unreachable as error:
        problem = f"is {what} that the table of names does not have, and that could not be looked up: {error}"
        raise InputError(_FIELD, name, problem, f"{_GIVE}, or try again when the network is there.") from error
    if by_key and record.inchikey != name:
        problem = f"was looked up, and PubChem gives another InChIKey ({record.inchikey})"
        raise InputError(_FIELD, name, problem, f"{_GIVE}.")
    if not by_key and not any(same_name(one, name) for one in names):
        problem = f"is {what} that PubChem does not have; the nearest is {_shown(record)}"
        raise InputError(_FIELD, name, problem, f"If that is meant, ask for '{record.smiles}'. {_GIVE}.")
    smiles = _checked(record, name, max_atoms)
    called = (record.title or name) if by_key or by_number else name
    more = "" if same_name(called, record.title) else f" ({record.title})" if record.title else ""
    source = f"PubChem CID {record.cid}{more}, {datetime.now(UTC):%Y-%m-%d}"
    return Named(called, smiles, "", (name,) if called != name else (), source)


def names_of(smiles: str, url: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> Names | None:
    """Look up what PubChem calls a molecule; None: it does not have it.

    Raises
    ------
    Unreachable
        If PubChem gives no answer.
    InputError
        If the SMILES is not valid.
    """
    service = PubChem(url)
    _, key = to_inchi(smiles, max_atoms)
    # Several records share an InChIKey where they differ in what it leaves out; the first is the oldest.
    record = next((one for one in sorted(service.by_inchikey(key), key=lambda one: one.cid)), None)
    if record is None:
        return None
    if record.inchikey != key:
        raise Unreachable(f"PubChem answered the InChIKey {key} with that of another compound ({record.inchikey})")
    return Names(
        cid=record.cid,
        iupac_name=record.iupac_name,
        title=record.title,
        cas=tuple(registry_numbers(service.synonyms(record.cid))),
        source=f"PubChem CID {record.cid}, {datetime.now(UTC):%Y-%m-%d}",
    )


def _one_of(records: list[Record], name: str) -> Record:
    """Give the only record, or the only one that has this name as its title."""
    if len(records) == 1:
        return records[0]
    titled = [one for one in records if same_name(one.title, name)]
    if len(titled) == 1:
        return titled[0]
    shown = "; ".join(_shown(one) for one in records[:_SHOWN])
    more = f", and {len(records) - _SHOWN} more" if len(records) > _SHOWN else ""
    problem = f"is the name of {len(records)} compounds in PubChem: {shown}{more}"
    raise InputError(_FIELD, name, problem, "Give the SMILES of the one that is meant, in quotes.")


def _checked(record: Record, name: str, max_atoms: int) -> str:
    """Give the canonical SMILES of a record; raises InputError if it is no single molecule, or contradicts itself."""
    if "." in record.smiles:
        ions = " and ".join(f"'{part}'" for part in dict.fromkeys(record.smiles.split(".")))
        problem = f"is a salt or mixture, not one molecule (PubChem CID {record.cid})"
        raise InputError(_FIELD, name, problem, f"Ask for its parts one by one: {ions}.")
    try:
        identity = identify(record.smiles, _FIELD, max_atoms)
    except InputError as error:
        problem = f"is {record.smiles} (PubChem CID {record.cid}), which cannot be used: it {error.problem}"
        raise InputError(_FIELD, name, problem, error.remedy) from error
    key = to_inchi(identity.smiles, max_atoms)[1]
    # The first block of the key is that of the atoms and their bonds, which all programs write alike.
    if identity.charge != record.charge or key[:_SKELETON] != record.inchikey[:_SKELETON]:
        stated = f"{record.formula}, charge {record.charge:+d}, InChIKey {record.inchikey}"
        read = f"{identity.formula}, charge {identity.charge:+d}, InChIKey {key}"
        problem = f"cannot be taken from PubChem: CID {record.cid} states {stated}, and its SMILES is {read}"
        raise InputError(_FIELD, name, problem, f"{_GIVE}.")
    return identity.smiles


def _shown(record: Record) -> str:
    title = record.title or record.iupac_name or record.formula
    return f"{title} (CID {record.cid}, {record.smiles})"
