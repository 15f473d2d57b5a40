"""What people ask of a design that nothing here reads: refused, before anything is queued."""

from __future__ import annotations

import re

from orchestrator.planning.unread import AMOUNT, Unread
from orchestrator.planning.words import ELECTRONIC, ORBITAL_ENERGY, THERMAL
from tasks.cations import SUBSTITUENTS
from tasks.errors import InputError

_REMEDY = (
    "A design is asked for by families, a backbone, substituents, bounds ('LUMO above -2 eV'), particles, steps, a"
    " seed, heavy atoms at most, and a level, cores and memory for the verification of its best candidates."
)
#: what quantum steps can give, and those of a design do not
_NOT_VERIFIED = (*THERMAL, "energy")
_WITHOUT = re.compile(
    r"(?<![\w-])(?:without|excluding|except(?:\s+for)?|free\s+of|avoid(?:ing)?)\s+(?:any\s+|all\s+)?([^,.;()]{1,80})"
    r"|(?<![\w-])(?:no|contain(?:s|ing)?\s+no)\s+((?:fluor|chlor|brom|iod|halogen|oxygen|sulf|sulph|ether|ester|ring|aromatic"
    r"|allyl|vinyl)\w*)|([\w-]+)-free\b",
    re.IGNORECASE,
)
#: what may be left out of a design's work, rather than of its candidates
_OF_THE_WORK = re.compile(
    r"\b(?:dft|md|molecular\s+dynamics|quantum|verif\w+|simulat\w+|optimi[sz]\w+|literature|papers?|web|\w+ing|delay|haste"
    r"|further\s+ado|problems?|errors?)\b",
    re.IGNORECASE,
)


def refuse_unread(unread: Unread) -> None:
    """Raise InputError for an amount, a property or an exclusion that nobody has read."""
    unread.refuse_numbers("request", _REMEDY, AMOUNT)
    text = ORBITAL_ENERGY.sub(" ", unread.text)
    others = [name for name, words in ELECTRONIC.items() if name in _NOT_VERIFIED and words.search(text)]
    if others:
        problem = f"asks for {' and '.join(others)} of the candidates, which a design does not compute"
        remedy = "Its best are verified by HOMO, LUMO, gap and dipole; ask for the rest by their SMILES, once found."
        raise InputError("request", unread.whole, problem, remedy)
    for match in _WITHOUT.finditer(unread.text):
        said = match[1] or match[2] or match[3]
        known = any(re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", said, re.IGNORECASE) for n in SUBSTITUENTS)
        if not known and not _OF_THE_WORK.search(said):
            remedy = f"What can be left out are substituents: {', '.join(SUBSTITUENTS)}."
            raise InputError("request", unread.part(match), "leaves out what no design reads", remedy)
