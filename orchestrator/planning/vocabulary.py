"""The words by which requests are routed, as patterns: each agent's notions, and what shows that work is wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from orchestrator.planning.lexicon import CHEMISTRY, HEM, MD, MULTIWFN, QM, RAG, WEB

#: agents whose work is jobs, which nothing starts on a hint
COSTLY = frozenset({"hem_agent", "qm_agent", "md_agent", "multiwfn_agent"})


#: what stands for ``<NAME>`` in the lexicon
_PARTS = {
    "SHOW": "(?:plot|draw|show|visuali[sz]e|render|depict|display|map|picture|paint|illustrate|colou?r|image)"
    "(?:s|t?ed|t?ing|d)?",
    "PICTURE": "(?:plots?|pictures?|images?|isosurfaces?|renderings?|shapes?|maps?|views?|pngs?|figures?|drawings?)",
    "ORBITAL": "(?:(?:frontier|molecular|lowest unoccupied|highest occupied) )*(?:homos?(?:-\\d)?|lumos?(?:\\+\\d)?"
    "|somos?|orbitals?|mos)",
    "ENERGY": "(?:energ(?:y|ies)|levels?|gaps?|diagrams?|values?|eigenvalues?)",
    "ION": "(?:cations?|membranes?|head~groups?|side~(?:groups?|chains?)|ionomers?|hems?|aems?|candidates?"
    "|ammonium groups?|\\w+iums?)",
    "DOCUMENT": "(?:pdfs?|papers?|documents?|articles?|librar(?:y|ies)|collections?|corpus|publications?|archives?"
    "|bibliograph(?:y|ies)|reading list|(?:document |literature |reference )?(?:index|database|store|folder)|files)",
    "GOOD": "(?:high|low|good|better|best|improved|max\\w*|enhanced|excellent|great|less|more)",
    "DEVISE": "(?:design|evolve|invent|devise|discover|propose|suggest|generate|search|explore|screen|breed|tailor"
    "|vary|come up with|look for|find(?: me)?|get me|hunt for)(?:s|d|ed|ing)?",
    "OURS": "(?:our|my|the|these|those|uploaded|indexed|ingested|your|collected|local|stored|own)",
    "ATOM": "(?:atoms?|hydrogens?|carbons?|nitrogens?|oxygens?|halogens?|rings?|protons?|electrons|stereo\\w+)",
    "DONE": "(?:last|latest|previous|finished|converged|completed?|earlier|existing|old)",
    "JOB": "(?:jobs?|runs?|calculations?|wfn|optimi[sz]ations?|single points?|results?|outputs?)",
}


@dataclass(frozen=True)
class Field:
    """What one agent is for, and the words that point to it.

    Attributes
    ----------
    does
        What it would do with a request, for a question to a person.
    words
        Patterns with their weights; each counts once.
    """

    does: str
    words: tuple[tuple[float, re.Pattern[str]], ...]


def _patterns(lines: str) -> Iterator[re.Pattern[str]]:
    """Read the notions of a part of the lexicon."""
    for notion in re.split(r"\n {8}(?! )", lines.rstrip())[1:]:
        text = re.sub(r"\n {12}\| | \| ", "|", notion)
        text = re.sub(r"\n {12}", "", text).strip()
        text = re.sub(r"<([A-Z]+)>", lambda match: _PARTS[match[1]], text)
        text = text.replace("~", r"[-–\s]?").replace(" ?", r"\s*").replace(" ", r"\s+")
        yield re.compile(rf"(?<![\w-])(?:{text})(?!\w)", re.IGNORECASE)


def _field(does: str, words: tuple[tuple[float, str], ...]) -> Field:
    return Field(does, tuple((weight, pattern) for weight, lines in words for pattern in _patterns(lines)))


FIELDS: dict[str, Field] = {
    "chemistry_agent": _field(
        "identify molecules: formula, masses, names, validity, descriptors, similarity; no simulation", CHEMISTRY
    ),
    "hem_agent": _field("search cations for a membrane's backbone by a particle swarm, and rank them", HEM),
    "qm_agent": _field("compute it by quantum chemistry: energies, orbital levels, geometries, frequencies", QM),
    "md_agent": _field("simulate it by molecular dynamics: diffusion, density, structure of the liquid", MD),
    "multiwfn_agent": _field(
        "analyse the wavefunction: charges, composition and pictures of orbitals, densities", MULTIWFN
    ),
    "rag_agent": _field("search the documents of this installation, and answer with citations", RAG),
    "web_search_agent": _field("search the web for what is current", WEB),
}

#: what somebody shall do, rather than look up
DOING = re.compile(
    r"(?:^\W*|[,;:.!?]\s*|\b(?:and|then|please|you|we|also|now|just|let|first)\s+)(?:re-?)?(?:calculate|compute"
    r"|simulate|run|optimi[sz]e|relax"
    r"|predict|design|evolve|render|plot|draw|equilibrate|reproduce|perform|estimate|refine)(?!\w)"
    r"|\boptimi[sz]ed\s+\w+\s+pair\b|\bsingle[- ]points?\b",
    re.IGNORECASE,
)
#: what asks for something that somebody else has found
LOOKING = re.compile(
    r"^\W*(?:(?:and|but|so|then|also|please|(?:could|can|would)\s+you(?:\s+please)?)[\s,]+)*(?:what|which|who|whose|where|when"
    r"|how|has|have|did|do|does|is|are|was|were|in|from|according|find|list|cite|quote|summari[sz]e|collect|compile|search"
    r"|look|show|tell|give|check|review|survey|report|any)(?!\w)",
    re.IGNORECASE,
)
#: a level of theory is named for what is to be checked with it, or in passing
VERIFYING = re.compile(
    r"(?<![\w-])(?:confirm|verif\w+|(?:cross-?|double-?)?check|validat\w+|re-?(?:comput|calculat)\w+|refine\w*"
    r"|redo)(?!\w)",
    re.IGNORECASE,
)
AT_LEVEL = re.compile(r"(?<![\w-])(?:on|optimi[sz]\w+|comput\w+|calculat\w+|test|use|at|with|by)(?!\w)", re.IGNORECASE)
