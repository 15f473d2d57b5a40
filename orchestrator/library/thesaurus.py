"""Names of the same thing in this field: abbreviations, synonyms, and British and American spelling.

A question is taken apart into concepts, each with the ways in which it may be written. General terms only: nothing here
is made for a document or a question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from orchestrator.library.words import MOST, matters, parts_of, stem

_GROUPS = """
hydroxide | alkali | alkaline | caustic
potassium hydroxide | KOH | caustic potash | lye
sodium hydroxide | NaOH | caustic soda | lye
carbon dioxide | CO2
dimethyl sulfoxide | DMSO
anion exchange membrane | AEM | hydroxide exchange membrane | HEM
ion exchange capacity | IEC
membrane | film
backbone | main chain
cation | head group | cationic group
ammonium | quaternary nitrogen
degradation | decomposition | ageing
degrade | decompose
stability | durability | lifetime
half-life | half life
Hofmann elimination | beta elimination
nucleophilic substitution | nucleophilic displacement | SN2
relative humidity | humidity | moisture | moist
vapour | steam
water uptake | hydration
conductivity | ion transport
structural diffusion | Grotthuss | hopping
deuterium | heavy hydrogen
isotope exchange | H/D exchange
activation energy | barrier | activation barrier
transition state | saddle point
imaginary frequency | imaginary mode | negative frequency
density functional theory | DFT | Kohn-Sham
tight binding | semi-empirical | semiempirical | xTB | GFN2-xTB
self-consistent field | SCF
double zeta | def2-SVP
triple zeta | def2-TZVP
dispersion | van der Waals
implicit solvent | continuum | CPCM | PCM | ALPB
conformer | rotamer
molecular dynamics | MD
time step | timestep
diffusion coefficient | diffusivity | self-diffusion
mean squared displacement | MSD
particle swarm | PSO
machine learning | surrogate
cross validation | cross-validation
nuclear magnetic resonance | NMR
small-angle scattering | SAXS
memory | RAM
scheduler | queue | Slurm
core | CPU
crosslinking | cross-linking
"""
#: spelling on either side of the Atlantic: what stands in a word -> what may stand there instead
_SPELLINGS = (
    (re.compile(r"is(?=(?:e|ed|es|er|ing|ation|ations)$)"), "iz"),
    (re.compile(r"iz(?=(?:e|ed|es|er|ing|ation|ations)$)"), "is"),
    (re.compile(r"(?<=\w{2})our(?=s|ed|$)"), "or"),
    (re.compile(r"(?<=(?:vap|col|fav|beh))or(?=s|ed|$)"), "our"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"sulf"), "sulph"),
    (re.compile(r"^age(?=ing$)"), "ag"),
    (re.compile(r"^ag(?=ing$)"), "age"),
    (re.compile(r"(?<=\w)yse(?=r?s?$)"), "yze"),
    (re.compile(r"(?<=\w)yze(?=r?s?$)"), "yse"),
    (re.compile(r"(?<=fib|lit|met|ent)re(?=s?$)"), "er"),
    (re.compile(r"(?<=fib|lit|met|ent)er(?=s?$)"), "re"),
    (re.compile(r"^aluminium"), "aluminum"),
    (re.compile(r"^aluminum"), "aluminium"),
)

Way = tuple[str, ...]


@dataclass(frozen=True)
class Concept:
    """Something that a question asks for.

    Attributes
    ----------
    said
        As the question has it, as one word or several (``S-07``).
    ways
        How else it may be written, each as its words.
    """

    said: str
    ways: tuple[Way, ...] = ()

    def held(self, stems: frozenset[str]) -> bool:
        """Tell whether a text with these stems speaks of it."""
        return any(_stems(way) <= stems for way in (tuple(parts_of(self.said)), *self.ways))


def concepts(question: str) -> list[Concept]:
    """Take a question apart into what it asks for, in its order, each once."""
    places = list(re.finditer(r"\w+", question))
    tokens = tuple(stem(match[0]) for match in places)
    found: dict[str, Concept] = {}
    place = 0
    while place < len(places):
        most = min(_LONGEST, len(places) - place)
        length = next((n for n in range(most, 0, -1) if tokens[place : place + n] in _index()), 0)
        last = place + max(length, 1) - 1
        # A compound (``S-07``) stays whole, also where a part of it has synonyms.
        while last + 1 < len(places) and question[places[last].end() : places[last + 1].start()] in ("-", "."):
            last, length = last + 1, 0
        said = question[places[place].start() : places[last].end()]
        whole = tokens[place : last + 1]
        if length or len(whole) > 1 or matters(said):
            ways = _index().get(whole, ())
            ways = tuple(way for way in (*ways, *_respelled(said)) if _stems(way) != frozenset(whole))
            found.setdefault(said.lower(), Concept(said=said, ways=ways))
        place = last + 1
    return list(found.values())[:MOST]


def _stems(way: Way) -> frozenset[str]:
    return frozenset(stem(word) for word in way)


def _respelled(said: str) -> list[Way]:
    word = said.lower()
    if not word.isalpha():
        return []
    return [(other,) for pattern, put in _SPELLINGS if (other := pattern.sub(put, word)) != word]


@cache
def _index() -> dict[tuple[str, ...], tuple[Way, ...]]:
    """Give for each name, by its stems, all names of the same things."""
    index: dict[tuple[str, ...], tuple[Way, ...]] = {}
    for line in _GROUPS.strip().splitlines():
        names = [tuple(parts_of(name)) for name in line.split(" | ")]
        ways = tuple(way for name in names for way in (name, *(_respelled(name[0]) if len(name) == 1 else ())))
        for way in ways:
            key = tuple(stem(word) for word in way)
            index[key] = tuple(dict.fromkeys((*index.get(key, ()), *ways)))
    return index


_LONGEST = max(len(key) for key in _index())
