"""What the chemistry agent has to ask PubChem: IUPAC names and CAS numbers of molecules."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.agents.chemistry_table import Done
from orchestrator.chemistry.lookups import Names, names_of
from orchestrator.state import Species
from tasks.errors import InputError, Unreachable

#: operation -> how a sentence calls its result
LOOKED_UP = {"iupac": "IUPAC name", "cas": "CAS number"}
_MOST_NUMBERS = 5


def look_up_names(operations: Sequence[str], species: Sequence[Species], url: str, done: Done) -> None:
    """Look up what the operations want of each molecule, and say of each one that could not be found why.

    Parameters
    ----------
    url
        Address of PubChem; empty: nothing is asked.
    done
        Gets rows and sentences.
    """
    wanted = [name for name in LOOKED_UP if name in operations]
    what = " and ".join(LOOKED_UP[name] for name in wanted)
    if not url:
        done.miss(f"{what} not looked up: no address of PubChem is set (SIMRELAY_PUBCHEM_URL)")
        return
    for number, one in enumerate(species):
        try:
            names = names_of(one.smiles, url, max(one.atoms, 1))
        except InputError as error:
            done.miss(f"{what} of {one.name} not looked up: {error}")
            continue
        except Unreachable as error:
            # Without an answer for one there is none for the others, and each would wait as long.
            left = ", ".join(other.name for other in species[number:])
            done.miss(f"{what} of {left} not looked up: {error}; ask again when it can be reached")
            return
        if names is None:
            done.miss(f"{what} of {one.name} not known: PubChem does not have it ({one.smiles})")
            continue
        for name in wanted:
            _tell(name, one, names, done)


def _tell(operation: str, one: Species, names: Names, done: Done) -> None:
    what = LOOKED_UP[operation]
    if operation == "iupac":
        found = names.iupac_name
    else:
        shown = names.cas[:_MOST_NUMBERS]
        found = ", ".join(shown)
        if len(names.cas) > 1:
            others = ", ".join(names.cas[1:_MOST_NUMBERS])
            more = f" and {len(names.cas) - _MOST_NUMBERS} more" if len(names.cas) > _MOST_NUMBERS else ""
            done.notes.append(
                f"{one.name}: depositors of PubChem also use {others}{more}; the number most used comes first."
            )
    if not found:
        done.miss(f"PubChem has no {what} of {one.name} ({names.source})")
        return
    done.rows.append((one.name, what, found, "", names.source))
    first = found if operation == "iupac" else names.cas[0]
    done.sentences.append(f"{what} of {one.name}: {first} ({names.source})")
