"""Slips of the keyboard in the words that route a request: one letter too few or too many, or two exchanged.

One letter in place of another makes other words too easily (``papers``, ``tapers``), and is left alone.
"""

from __future__ import annotations

import re

_KNOWN = frozenset(
    "absorption affinity analyse analyze aromaticity atmosphere backbone balanced barrier binding calculate"
    " canonical candidates cation cations charges citations cite collection composition compute conductivity"
    " conformer coordinates current density descriptors design diffusion dipole documents dynamics electron"
    " electrostatic energies energy enthalpy entropy equilibrate excitation formula freq frequencies frequency"
    " functional geometry gibbs google gromacs hirshfeld imidazolium internet isosurface latest library literature"
    " localised localized lumo mass membrane membranes mobility molar molecular molecule multiwfn newest online"
    " optimisation optimise optimised optimization optimize optimized orbital orbitals papers particle"
    " piperidinium polymer population potential production properties publication publications published quantum"
    " recent references relax render research reviews search similarity simulate simulation simulations smiles"
    " solvation spectrum stability structure studies swarm swelling temperature thermochemistry trajectory"
    " transition uptake validate vibrational viscosity visualise visualize wavefunction website weight hydroxide"
    " literature".split()
)
_WORD = re.compile(r"[A-Za-z]{5,}")
#: words that are one slip away from a known one and are words of their own
_OTHER = frozenset(
    "motility polar mass masses massed form formal formulas densities energise lasted least rends rent serene"
    " angle searches membrane's structures calculated computed computer optimiser optimizer simulated relaxed"
    " relaxes stimulate stimulation mole moles smile smiled crate curate currents cited site sited weights weighty"
    " designs designed charge charged barriers candidate binding finding recently entropic latent simulator"
    " website renders renderer reviewer absorptions affinities potentials polymers references researched"
    " researcher action actions article articles eight miles selling welling biding blinding caption caution deign"
    " ender formulae wight quantums uptakes particles orbitally molecules molecular".split()
)


def _deletes(word: str) -> set[str]:
    return {word[:i] + word[i + 1 :] for i in range(len(word))}


def _swaps(word: str) -> set[str]:
    return {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)}


#: slip -> word; a final s is no slip
_SLIPS = {
    slip: word
    for word in sorted(_KNOWN)
    if len(word) >= 6
    for slip in (_deletes(word) | _swaps(word)) - {word[:-1]}
    if slip not in _KNOWN and slip not in _OTHER
}


def respelled(text: str) -> str:
    """Give a text with slips in known words set right; lengths may change."""
    return _WORD.sub(lambda match: _right(match[0]), text)


def _right(word: str) -> str:
    low = word.lower()
    if low in _KNOWN or low in _OTHER:
        return word
    if low in _SLIPS:
        return _SLIPS[low]
    doubled = [
        one for one in _deletes(low) if one in _KNOWN and len(one) >= 6 and f"{one}s" != low and f"{one}d" != low
    ]
    return doubled[0] if len(doubled) == 1 and not low.endswith(("s", "d", "r")) else word
