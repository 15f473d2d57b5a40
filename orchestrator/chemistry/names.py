"""A table of ours of names of common cations, anions, solvents and small molecules, and finding them in free text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from functools import cache
from typing import Literal, NamedTuple

from rdkit import Chem
from rdkit.Chem import rdinchi

Kind = Literal["cation", "anion", "molecule", ""]


class Named(NamedTuple):
    """One molecule: its usual name, its SMILES, what else it is called, and where that is from (empty: our table)."""

    name: str
    smiles: str
    kind: Kind
    synonyms: tuple[str, ...] = ()
    source: str = ""


class Match(NamedTuple):
    """A name found in a text, from ``start`` up to but not including ``end``."""

    start: int
    end: int
    named: Named


def _entries(kind: Kind, *rows: str) -> list[Named]:
    """Read rows of ``name | SMILES | synonym; synonym``."""
    entries = []
    for row in rows:
        name, smiles, *rest = (part.strip() for part in row.split("|"))
        synonyms = tuple(word.strip() for word in rest[0].split(";")) if rest else ()
        entries.append(Named(name, smiles, kind, synonyms))
    return entries


TABLE: tuple[Named, ...] = tuple(
    _entries(
        "cation",
        "ammonium | [NH4+] | NH4+",
        "methylammonium | C[NH3+]",
        "trimethylammonium | C[NH+](C)C",
        "tetramethylammonium | C[N+](C)(C)C | TMA; TMA+; NMe4+; N,N,N,N-tetramethylammonium",
        "tetraethylammonium | CC[N+](CC)(CC)CC | TEA+; NEt4+",
        "tetrapropylammonium | CCC[N+](CCC)(CCC)CCC | TPA; TPA+; tetra-n-propylammonium",
        "tetrabutylammonium | CCCC[N+](CCCC)(CCCC)CCCC | TBA; TBA+; tetra-n-butylammonium",
        "ethyltrimethylammonium | CC[N+](C)(C)C | N,N,N-trimethylethanammonium; ETMA",
        "propyltrimethylammonium | CCC[N+](C)(C)C | n-propyltrimethylammonium",
        "butyltrimethylammonium | CCCC[N+](C)(C)C | n-butyltrimethylammonium",
        "hexyltrimethylammonium | CCCCCC[N+](C)(C)C | n-hexyltrimethylammonium; HTMA",
        "benzyltrimethylammonium | C[N+](C)(C)Cc1ccccc1 | BTMA; BTMA+; N-benzyltrimethylammonium",
        "benzyltriethylammonium | CC[N+](CC)(CC)Cc1ccccc1",
        "phenyltrimethylammonium | C[N+](C)(C)c1ccccc1 | PTMA; trimethylphenylammonium",
        "neopentyltrimethylammonium | CC(C)(C)C[N+](C)(C)C",
        "choline | C[N+](C)(C)CCO | cholinium; 2-hydroxyethyltrimethylammonium",
        "N,N-dimethylpyrrolidinium | C[N+]1(C)CCCC1 | dimethylpyrrolidinium; 1,1-dimethylpyrrolidinium; DMPy",
        "N-ethyl-N-methylpyrrolidinium | CC[N+]1(C)CCCC1 | 1-ethyl-1-methylpyrrolidinium",
        "N-butyl-N-methylpyrrolidinium | CCCC[N+]1(C)CCCC1 | 1-butyl-1-methylpyrrolidinium; PYR14",
        "N,N-dimethylpiperidinium | C[N+]1(C)CCCCC1 | dimethylpiperidinium; 1,1-dimethylpiperidinium; DMP; DMP+",
        "N-ethyl-N-methylpiperidinium | CC[N+]1(C)CCCCC1 | 1-ethyl-1-methylpiperidinium",
        "N-butyl-N-methylpiperidinium | CCCC[N+]1(C)CCCCC1 | 1-butyl-1-methylpiperidinium; PIP14",
        "piperidinium | C1CC[NH2+]CC1",
        "pyrrolidinium | C1CC[NH2+]C1",
        "N,N-dimethylazepanium | C[N+]1(C)CCCCCC1 | dimethylazepanium; 1,1-dimethylazepanium",
        "N,N-dimethylmorpholinium | C[N+]1(C)CCOCC1 | dimethylmorpholinium; 4,4-dimethylmorpholinium",
        "6-azoniaspiro[5.5]undecane | C1CC[N+]2(CC1)CCCCC2 | ASU; 6-azaspiro[5.5]undecan-6-ium;"
        " 6-azoniaspiro[5.5]undecanium; azoniaspiro[5.5]undecane",
        "5-azoniaspiro[4.4]nonane | C1CC[N+]2(C1)CCCC2 | spirobipyrrolidinium; SBP; 5-azaspiro[4.4]nonan-5-ium;"
        " 1,1'-spirobipyrrolidinium",
        "5-azoniaspiro[4.5]decane | C1CC[N+]2(CC1)CCCC2 | 5-azaspiro[4.5]decan-5-ium",
        "quinuclidinium | C1C[NH+]2CCC1CC2",
        "N-methylquinuclidinium | C[N+]12CCC(CC1)CC2 | methylquinuclidinium; 1-methylquinuclidinium",
        "N-methyl-DABCO | C[N+]12CCN(CC1)CC2 | methyl-DABCO; 1-methyl-1,4-diazabicyclo[2.2.2]octan-1-ium",
        "imidazolium | c1c[nH]c[nH+]1",
        "1-methylimidazolium | Cn1cc[nH+]c1 | N-methylimidazolium",
        "1,3-dimethylimidazolium | Cn1cc[n+](C)c1 | dimethylimidazolium; MMIM; DMIM",
        "1-ethyl-3-methylimidazolium | CCn1cc[n+](C)c1 | EMIM; EMIM+",
        "1-butyl-3-methylimidazolium | CCCCn1cc[n+](C)c1 | BMIM; BMIM+",
        "1-benzyl-3-methylimidazolium | C[n+]1ccn(Cc2ccccc2)c1",
        "1,2,3-trimethylimidazolium | Cc1n(C)cc[n+]1C | trimethylimidazolium",
        "1,2-dimethyl-3-benzylimidazolium | Cc1n(C)cc[n+]1Cc1ccccc1 | 3-benzyl-1,2-dimethylimidazolium",
        "1,2,3,4,5-pentamethylimidazolium | Cc1c(C)[n+](C)c(C)n1C | pentamethylimidazolium",
        "1,3-dimethylbenzimidazolium | Cn1c[n+](C)c2ccccc21 | dimethylbenzimidazolium",
        "pyridinium | c1cc[nH+]cc1",
        "N-methylpyridinium | C[n+]1ccccc1 | 1-methylpyridinium; methylpyridinium",
        "N-benzylpyridinium | C(c1ccccc1)[n+]1ccccc1 | 1-benzylpyridinium",
        "guanidinium | NC(N)=[NH2+]",
        "hexamethylguanidinium | CN(C)C(=[N+](C)C)N(C)C",
        "phosphonium | [PH4+]",
        "tetramethylphosphonium | C[P+](C)(C)C | TMP+; PMe4+",
        "tetraethylphosphonium | CC[P+](CC)(CC)CC",
        "tetrabutylphosphonium | CCCC[P+](CCCC)(CCCC)CCCC | TBP+",
        "benzyltrimethylphosphonium | C[P+](C)(C)Cc1ccccc1",
        "tetraphenylphosphonium | c1ccc(cc1)[P+](c1ccccc1)(c1ccccc1)c1ccccc1",
        "trimethylsulfonium | C[S+](C)C | trimethylsulphonium",
        "hydronium | [OH3+] | oxonium; H3O+",
        "lithium ion | [Li+] | Li+",
        "sodium ion | [Na+] | Na+",
        "potassium ion | [K+] | K+",
    )
    + _entries(
        "anion",
        "hydroxide | [OH-] | OH-; OH⁻; hydroxide ion; hydroxide anion",
        "fluoride | [F-] | F-",
        "chloride | [Cl-] | Cl-; Cl⁻; chloride ion",
        "bromide | [Br-] | Br-; bromide ion",
        "iodide | [I-] | I-; iodide ion",
        "bicarbonate | OC(=O)[O-] | hydrogencarbonate; HCO3-",
        "carbonate | [O-]C(=O)[O-]",
        "nitrate | [N+](=O)([O-])[O-] | NO3-",
        "acetate | CC(=O)[O-]",
        "formate | C(=O)[O-]",
        "methoxide | C[O-]",
        "tetrafluoroborate | F[B-](F)(F)F | BF4-",
        "hexafluorophosphate | F[P-](F)(F)(F)(F)F | PF6-",
        "cyanide | [C-]#N",
    )
    + _entries(
        "molecule",
        "water | O | H2O; water molecule",
        "dihydrogen | [H][H] | molecular hydrogen; H2",
        "carbon monoxide | [C-]#[O+]",
        "carbon dioxide | O=C=O | CO2",
        "ammonia | N | NH3",
        "methane | C | CH4",
        "ethane | CC",
        "propane | CCC",
        "ethene | C=C | ethylene",
        "ethyne | C#C | acetylene",
        "methanol | CO | MeOH; methyl alcohol; CH3OH",
        "ethanol | CCO | EtOH; ethyl alcohol",
        "1-propanol | CCCO | propanol; n-propanol",
        "2-propanol | CC(C)O | isopropanol; isopropyl alcohol; IPA",
        "ethylene glycol | OCCO",
        "formaldehyde | C=O | methanal",
        "acetaldehyde | CC=O",
        "formic acid | OC=O",
        "acetic acid | CC(=O)O",
        "acetone | CC(C)=O | propanone",
        "acetonitrile | CC#N | MeCN",
        "dimethyl sulfoxide | CS(C)=O | dimethyl sulphoxide; DMSO; dimethylsulfoxide",
        "dimethylformamide | CN(C)C=O | DMF; N,N-dimethylformamide",
        "dimethylacetamide | CC(=O)N(C)C | DMAc; N,N-dimethylacetamide",
        "N-methylpyrrolidone | CN1CCCC1=O | NMP; N-methyl-2-pyrrolidone",
        "tetrahydrofuran | C1CCOC1 | THF",
        "dichloromethane | ClCCl | DCM; methylene chloride",
        "chloroform | ClC(Cl)Cl | trichloromethane",
        "diethyl ether | CCOCC",
        "dimethyl ether | COC",
        "1,4-dioxane | C1COCCO1 | dioxane",
        "hexane | CCCCCC | n-hexane",
        "cyclohexane | C1CCCCC1",
        "benzene | c1ccccc1",
        "toluene | Cc1ccccc1 | methylbenzene",
        "phenol | Oc1ccccc1",
        "aniline | Nc1ccccc1",
        "pyridine | c1ccncc1",
        "imidazole | c1c[nH]cn1",
        "1-methylimidazole | Cn1ccnc1 | N-methylimidazole",
        "piperidine | C1CCNCC1",
        "N-methylpiperidine | CN1CCCCC1 | 1-methylpiperidine",
        "pyrrolidine | C1CCNC1",
        "quinuclidine | C1CN2CCC1CC2",
        "DABCO | C1CN2CCN1CC2 | 1,4-diazabicyclo[2.2.2]octane",
        "methylamine | CN",
        "dimethylamine | CNC",
        "trimethylamine | CN(C)C | NMe3",
        "triethylamine | CCN(CC)CC",
        "biphenyl | c1ccc(cc1)-c1ccccc1",
        "p-terphenyl | c1ccc(cc1)-c1ccc(cc1)-c1ccccc1 | terphenyl",
        "fluorene | C1c2ccccc2-c2ccccc21 | 9H-fluorene",
        "hydrogen fluoride | F",
        "hydrogen chloride | Cl",
        "urea | NC(N)=O",
        "methyl radical | [CH3] | methyl radicals",
        "hydroxyl radical | [OH] | OH radical",
    )
)


def _key(name: str) -> str:
    """Give a name without case, blanks and hyphens: "Tetramethyl ammonium" is tetramethylammonium."""
    return re.sub(r"[\s\-]+(?=\S)", "", name.strip()).lower()


_BY_KEY = {_key(word): entry for entry in TABLE for word in (entry.name, *entry.synonyms)}
_WORDS = [word for entry in TABLE for word in (entry.name, *entry.synonyms)]
#: abbreviations and formulas count only as they are written here: "DMP" is a cation, "dmp" may be anything
_EXACT = [word for word in _WORDS if not re.search(r"[a-z]{4}", word)]


def _any_of(words: list[str]) -> str:
    """Give a pattern of these words, the longest first."""
    patterns = (re.escape(word).replace(r"\ ", r"\s+") for word in sorted(words, key=len, reverse=True))
    # People put a blank or hyphen after a prefix: "tetramethyl ammonium".
    return "|".join(re.sub(r"yl(?=[a-z]{4})", r"yl[\\s-]?", pattern) for pattern in patterns)


# A name may not go on in letters, digits or hyphens on either side: "piperidinium" is not found in
# "N,N-dimethylpiperidinium", nor "water" in "water-soluble", nor an ion inside a bracket atom of a SMILES.
_NAMES = re.compile(
    r"(?<![\w\-\[\]@=#+.])(?<!quaternary )"
    rf"((?i:{_any_of([word for word in _WORDS if word not in _EXACT])})(?=s?(?!\w))|{_any_of(_EXACT)})"
    r"s?(?![\w\[@=#+]|-\w)"
)


#: molecules that were looked up elsewhere for the request that is being read; its parts are read in many places
_MORE: ContextVar[tuple[Named, ...]] = ContextVar("names_looked_up", default=())


@contextmanager
def knowing(named: Sequence[Named]) -> Iterator[None]:
    """Know these molecules besides those of the table, within the block."""
    token = _MORE.set(tuple(named))
    try:
        yield
    finally:
        _MORE.reset(token)


def same_name(one: str, other: str) -> bool:
    """Tell whether two names differ in nothing but case, blanks and hyphens."""
    return _key(one) == _key(other)


def look_up(name: str) -> Named | None:
    """Give the molecule of that name or InChIKey, in any case and with any synonym; None if it is not known."""
    key = _key(name)
    for more in _MORE.get():
        if key in (_key(word) for word in (more.name, *more.synonyms)):
            return more
    if re.fullmatch(r"[A-Z]{14}-[A-Z]{10}-[A-Z]", name):
        return _by_inchikey().get(name)
    return _BY_KEY.get(key)


def close_names(name: str) -> list[str]:
    """Give up to three names of the table that are spelled much like this one."""
    near = get_close_matches(_key(name), _BY_KEY, n=6, cutoff=0.75)
    return list(dict.fromkeys(_BY_KEY[key].name for key in near))[:3]


def find_names(text: str) -> list[Match]:
    """Find the names of the table, and those that were looked up, the longest at each place, from left to right."""
    more = [
        Match(m.start(), m.end(), one)
        for one in _MORE.get()
        for word in sorted((one.name, *one.synonyms), key=len, reverse=True)
        for m in re.finditer(rf"(?<![\w-]){_loosely(word)}(?![\w]|-\w)", text, re.IGNORECASE)
    ]
    found: list[Match] = []
    for match in sorted(more, key=lambda m: (m.start, -m.end)):
        if not found or match.start >= found[-1].end:
            found.append(match)
    for m in _NAMES.finditer(text):
        if not any(one.start < m.end() and m.start() < one.end for one in found):
            found.append(Match(m.start(), m.end(), _BY_KEY[_key(m[1])]))
    return sorted(found)


def _loosely(word: str) -> str:
    return r"\s+".join(re.escape(part) for part in word.split())


@cache
def _by_inchikey() -> dict[str, Named]:
    """Give the molecules of the table by their InChIKey."""
    keys = (rdinchi.InchiToInchiKey(rdinchi.MolToInchi(Chem.MolFromSmiles(entry.smiles))[0]) for entry in TABLE)
    return dict(zip(map(str, keys), TABLE, strict=True))
