"""What the chemistry agent does besides identifying: each operation gives rows of one table, pictures and notes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

from orchestrator.agents.base import Context
from orchestrator.agents.chemistry_names import LOOKED_UP, look_up_names
from orchestrator.agents.chemistry_table import Done, Row
from orchestrator.chemistry.descriptors import SOURCES, alerts, descriptors
from orchestrator.chemistry.groups import functional_groups
from orchestrator.chemistry.lines import to_inchi, to_selfies
from orchestrator.chemistry.masses import atom_counts, masses, named_elements
from orchestrator.chemistry.pictures import MOST, draw
from orchestrator.chemistry.reactions import balance
from orchestrator.chemistry.similarity import FINGERPRINT, tanimoto, wording
from orchestrator.chemistry.validity import check
from orchestrator.state import Picture, Quantity, Species
from tasks.errors import InputError
from tasks.settings import load_settings
from tasks.workspace import write_artifact

#: more pairs than this are no table that anybody reads
_MOST_PAIRS = 300


def perform(operations: Sequence[str], species: Sequence[Species], context: Context, number: int) -> Done:
    """Do operations on molecules that are identified; what one molecule does not have becomes a note.

    Parameters
    ----------
    number
        Of the step, for names of its files.

    Raises
    ------
    InputError
        If there is no such operation.
    """
    done = Done()
    for operation in operations:
        if operation == "similarity":
            _similarity(species, done)
        elif operation == "picture":
            _picture(species, context, number, done)
        elif operation == "atoms":
            _count(species, context, done)
        elif operation in LOOKED_UP:
            if operation == next(name for name in operations if name in LOOKED_UP):
                url = (context.settings or load_settings()).pubchem_url
                look_up_names(operations, species, url, done)
        elif operation in _OF_ONE:
            for one in species:
                try:
                    rows = _OF_ONE[operation](one)
                except InputError as error:
                    done.notes.append(f"{one.name}: {error}")
                    continue
                done.rows += rows
                said = ", ".join(f"{what} {value} {unit}".strip() for _, what, value, unit, _ in rows)
                said = "valid" if operation == "validity" else said
                done.sentences.append(f"{one.name}: {said}")
        else:
            known = ", ".join((*_OF_ONE, *LOOKED_UP, "atoms", "similarity", "picture"))
            raise InputError("operations", operation, "is no operation of chemistry", f"Known are {known}.")
    return done


def verdicts(texts: Sequence[str], max_atoms: int) -> Done:
    """Check SMILES that need not be valid: why one is not, and at which character."""
    done = Done()
    for text in texts:
        verdict = check(text, max_atoms)
        done.rows.append((text, "validity", "valid" if verdict.valid else "not valid", "", "RDKit"))
        if verdict.valid:
            done.rows.append((text, "canonical SMILES", verdict.canonical, "", "RDKit"))
        else:
            done.rows.append((text, "reason", verdict.reason, "", "RDKit"))
        if verdict.position:
            done.rows.append((text, "position", str(verdict.position), "character", "RDKit"))
        done.sentences.append(verdict.sentence.rstrip("."))
    return done


def balances(reactions: Sequence[str], max_atoms: int) -> Done:
    """Check reactions for balance; one that cannot be read is said to be so, and where."""
    done = Done()
    for reaction in reactions:
        try:
            said = balance(reaction, max_atoms).sentence
        except InputError as error:
            said = f"cannot be read: {error}"
        done.rows.append((reaction, "balance", said, "", "atoms and charges counted"))
        done.sentences.append(f"{reaction} {said}".rstrip("."))
    return done


def _masses(one: Species) -> list[Row]:
    found = masses(one.smiles, max(one.atoms, 1))
    return [
        (one.name, "average mass", f"{found.average_dalton:.3f}", "g/mol", "standard atomic weights"),
        (one.name, "monoisotopic mass", f"{found.monoisotopic_dalton:.5f}", "Da", "most abundant isotopes"),
    ]


def _groups(one: Species) -> list[Row]:
    found = functional_groups(one.smiles, max(one.atoms, 1))
    words = ", ".join(f"{group.name}{f' × {group.count}' if group.count > 1 else ''}" for group in found)
    return [(one.name, "functional groups", words or "none of those known", "", "SMARTS")]


def _selfies(one: Species) -> list[Row]:
    return [(one.name, "SELFIES", to_selfies(one.smiles, max(one.atoms, 1)), "", "selfies")]


def _inchi(one: Species) -> list[Row]:
    text, key = to_inchi(one.smiles, max(one.atoms, 1))
    return [(one.name, "InChI", text, "", "standard InChI"), (one.name, "InChIKey", key, "", "standard InChI")]


def _descriptors(one: Species) -> list[Row]:
    found = descriptors(one.smiles, max(one.atoms, 1))
    return [
        (one.name, "logP", f"{found.logp:.2f}", "", SOURCES["logP"]),
        (one.name, "TPSA", f"{found.tpsa_square_angstrom:.1f}", "Å²", SOURCES["TPSA"]),
        (one.name, "QED", f"{found.qed:.3f}", "", SOURCES["QED"]),
        (one.name, "SA score", f"{found.sa_score:.2f}", "", SOURCES["SA score"]),
        (one.name, "hydrogen-bond donors", str(found.donors), "", SOURCES["Lipinski"]),
        (one.name, "hydrogen-bond acceptors", str(found.acceptors), "", SOURCES["Lipinski"]),
        (one.name, "Lipinski violations", str(found.violations), "", SOURCES["Lipinski"]),
        (one.name, "rotatable bonds", str(found.rotatable_bonds), "", "RDKit"),
    ]


def _filters(one: Species) -> list[Row]:
    found = alerts(one.smiles, max(one.atoms, 1))
    return [
        (one.name, f"{name} alerts", ", ".join(a.name for a in found if a.filter == name) or "none", "", SOURCES[name])
        for name in ("PAINS", "Brenk")
    ]


def _validity(one: Species) -> list[Row]:
    return [(one.name, "validity", "valid", "", "RDKit")]


_OF_ONE: dict[str, Callable[[Species], list[Row]]] = {
    "validity": _validity,
    "masses": _masses,
    "groups": _groups,
    "selfies": _selfies,
    "inchi": _inchi,
    "descriptors": _descriptors,
    "filters": _filters,
}


def _count(species: Sequence[Species], context: Context, done: Done) -> None:
    """Count atoms by element; of an element that was asked for by name and is not there, it is said that it is not."""
    asked = named_elements(context.request)
    for one in species:
        counts = {**atom_counts(one.smiles, max(one.atoms, 1))}
        shown = [f"{count} {symbol}" for symbol, count in counts.items()]
        shown += [f"0 {symbol}" for symbol in asked if symbol not in counts]
        done.rows.append((one.name, "atoms", ", ".join(shown), "", "counted"))
        done.values += [
            Quantity(species=one.name, name=f"number of {symbol} atoms", value=counts.get(symbol, 0), unit="")
            for symbol in dict.fromkeys((*counts, *asked))
        ]
        done.sentences.append(f"Atoms of {one.name}: {', '.join(shown)}")


def _similarity(species: Sequence[Species], done: Done) -> None:
    pairs = list(combinations(species, 2))
    if not pairs:
        done.notes.append("Similarity needs two molecules.")
    if len(pairs) > _MOST_PAIRS:
        done.notes.append(f"Similarity: only the first molecule with the others, since there are {len(pairs)} pairs.")
        pairs = [(species[0], other) for other in species[1:]]
    size = max((one.atoms for one in species), default=1)
    for one, other in pairs:
        value = tanimoto(one.smiles, other.smiles, max(size, 1))
        pair = f"{one.name} and {other.name}"
        done.rows.append((pair, "similarity", f"{value:.3f}", "", FINGERPRINT))
        done.values.append(Quantity(species=pair, name="similarity", value=value, unit=""))
        if len(pairs) <= 3:
            done.sentences.append(f"{pair}: similarity {value:.3f} ({wording(value)})")


def _picture(species: Sequence[Species], context: Context, number: int, done: Done) -> None:
    size = max((one.atoms for one in species), default=1)
    png, svg = draw([(one.name, one.smiles) for one in species], max(size, 1))
    folder = context.folder / "figures"
    file = write_artifact(folder / f"molecules-{number}.png", png, context.workspace, "figure")
    write_artifact(folder / f"molecules-{number}.svg", svg, context.workspace, "figure")
    shown = ", ".join(one.name for one in species[:MOST])
    done.pictures.append(Picture(file=file, caption=f"2D structures of {shown}"))
    if len(species) > MOST:
        done.notes.append(f"Only the first {MOST} of {len(species)} molecules are drawn.")
