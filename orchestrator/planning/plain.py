"""The words of a request that its author meant: without quoted text, pasted output, SMILES, levels of theory, solvents.

What is taken out leaves blanks of the same length, so that places stay what they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from orchestrator.planning.molecules import looks_like_smiles
from orchestrator.planning.spelling import respelled
from tasks.methods import BASES, METHODS

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|(?<!\w)'[^'\n]*'(?!\w)")
_QUOTED_LINE = re.compile(r"^\s*[>|].*$", re.MULTILINE)
#: coordinates, and lines of a program that shouts
_OUTPUT_LINE = re.compile(
    r"^\s*[A-Z][a-z]?(?:\s+-?\d+\.\d+){3}\s*$|^(?=(?:[^a-z\n]*[A-Z]){8})[^a-z\n]*(?:\d|\*|=|-{2})[^a-z\n]*$",
    re.MULTILINE,
)
_SAID_SMILES = re.compile(r"\bsmiles\b[^.;]{0,20}?\b(?:is|are|that|string|strings|with)\b|\bwith\s+smiles\b"
                          r"|\b(?:is|are|both|as)\s+(?:a\s+)?smiles\b", re.IGNORECASE)  # fmt: skip
_SHORT_SMILES = re.compile(r"(?<![\w-])[BCNOPSFIH]{2,8}(?![\w-])")
_TOKEN = re.compile(r"[^\s,;]+")
_METHOD = "|".join(sorted((re.escape(name) for name in (*METHODS, *BASES)), key=len, reverse=True))
#: a level of theory: ``B3LYP-D3BJ/def2-TZVP``, ``GFN2-xTB`` is a tool and stays
_LEVEL = re.compile(
    rf"(?<![\w-])(?!gfn)(?:{_METHOD}|(?:RI-?)?MP2|CCSD\(T\)|M0[56]\S*|[wω]B97\S*|r2SCAN\S*|\w*B3LYP\S*|def2-\w+"
    rf"|cc-pV\w+"
    r"|hybrid\s+functional)(?:[-/]\S+)*(?!\w)",
    re.IGNORECASE,
)
_SOLVENT = re.compile(
    r"\b(?:CPCM|SMD|COSMO|ALPB|IEF-?PCM)\b(?:\s*\([^)]*\))?(?:\s+water)?|\bimplicit\s+(?:water|solvent)\b"
    r"|\b(?:\d+\s*M|molar|dilute|conc\w*)\s+(?:NaOH|KOH|HCl)\b",
    re.IGNORECASE,
)

_NOT = (
    r"(?:no|not|never|without|neither|nor|don['’]?t|do\s+not|doesn['’]?t|didn['’]?t|isn['’]?t|won['’]?t|needn['’]?t|cannot"
    r"|avoid(?:ing)?|skip(?:ping)?|rather\s+than|instead\s+of|except(?:\s+for)?|nothing\s+(?:to\s+do\s+with|else))"
)
_NEGATED = re.compile(
    rf"(?<!\bare\s)(?<!\bis\s)(?<!\bhas\s)(?<!\bhave\s)(?<!\bbe\s)(?<![\w-]){_NOT}(?!\s+only\b)(?![\w-])"
    r"(?:(?!\b(?:but|just|only|please|however|instead|though|and\s+(?:then|just|only)|which|then"
    r"|because)\b)[^,.;:!?\n()])*",
    re.IGNORECASE,
)
#: "Leave the quantum chemistry aside"
_LEAVE = re.compile(
    r"\b(?:leave|put|keep|set)\s+[^,.;:!?\n]{1,60}?\s(?:aside|out(?:\s+of\s+\w+)?|away|alone)\b", re.IGNORECASE
)
#: "You could run a PSO. Please don't.": the sentence before it is negated
_PLEASE_DONT = re.compile(r"[^.?!\n]*[.,;]\s*(?:but\s+)?(?:please\s+)?(?:do\s+not|don['’]?t)(?:\s+do\s+(?:so|that"
                          r"|it))?\s*[.!]",
                          re.IGNORECASE)  # fmt: skip
#: what the answer is for, or where its molecule stands, is not what is asked
_PURPOSE = re.compile(
    r"\b(?:for|in|on)\s+(?:a|my|our|the|this|his|her|an)(?:\s+(?:last|next|new|recent|upcoming|first|group|conference))?\s+"
    r"(?:paper|thesis|talk|manuscript|presentation|poster|article|report|seminar|review|lecture|proposal|book|slides?"
    r"|website|publication|meeting|cover|grant|course|class|deliverable|referees?|reviewers?|supervisor|boss|introduction)"
    r"(?!\s+(?:by|from|in|say\w*|report\w*))\b(?:\s+(?:on|about|of)\s+(?:(?!\b(?:I|we|please|could|can)\b)[^,.:;?!])*)?"
    r"|\bso\s+that\s+(?:I|we|they|it|my|our)\b[^.;?!\n]*|\b(?:the|our|my)\s+(?:DFT|MD|QM|HEM|modelling|simulation|library)\s+(?:people|group|team|colleagues?|guys|department)\b|\bbecause\b[^,.;:?!\n]*|\bas\s+(?:I|we)\s+(?:am|are|have|need)\b[^,.;:?!]*"
    r"|\b(?:I|we)\s*(?:['’]ll|\s+will|\s+shall)\b[^.;?!\n]*",
    re.IGNORECASE,
)
_GIVEN = re.compile(
    r"\b(?:the\s+)?(?:literature|paper|article|experiment)\s+(?:gives|says|reports|quotes|has|value\s+(?:is"
    r"|of))\s+(?:about\s+)?"
    r"[-−–]?\d[^,.;]*|\b(?:I|we)\s+(?:already\s+)?(?:have|had|know|got)\s+(?:already\s+)?(?:(?:the|all|our)\s+)"
    r"[^,.;!?]*?\b(?:already|in\s+hand|by\s+heart|myself)\b|\b(?:that|which)\s+(?:the|our|my|a)\s+(?!\w+ium\b)\w+(?:\s+\w+){0,2}\s+"
    r"(?:gave|found|proposed|suggested|made|calls|called|mentions|came|used|asked|wants|sent|handed)\b[^,.;:!?]*|\b(?:I|we)\s+already\s+(?:have|know|did|ran|got)\b[^,.;!?]*",
    re.IGNORECASE,
)


#: how an earlier calculation was done says nothing of what is asked of it
_OF_EARLIER = re.compile(
    r"(?<=\b)((?:completed?|finished|converged|previous|earlier|existing|last|latest|old)\s+)"
    r"((?:(?:dft|quantum|qm|orca|pyscf|xtb|gfn\d?|electronic|chemical|structure)[\s-]+){1,3})"
    r"(?=(?:calculation|job|run|optimi[sz]ation|single|result|output))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Plain:
    """The words that count, those that were negated, and whether a level of theory was named."""

    words: str
    negated: str
    level: bool


def plain(text: str) -> Plain:
    """Read a request, or a clause of one."""
    rest = _OF_EARLIER.sub(lambda match: match[1] + " " * len(match[2]), without_quotes(text))
    level = bool(_LEVEL.search(rest))
    for pattern in (_LEVEL, _SOLVENT, _PURPOSE, _GIVEN):
        rest = _blank(pattern, rest)
    negated: list[str] = []
    for pattern in (_PLEASE_DONT, _LEAVE, _NEGATED):
        negated += [match[0] for match in pattern.finditer(rest)]
        rest = _blank(pattern, rest)
    return Plain(respelled(rest), respelled(" . ".join(negated)), level)


def without_quotes(text: str) -> str:
    """Blank code blocks, quotations, pasted output and SMILES."""
    rest = text
    if _SAID_SMILES.search(_blank(_FENCED, text)):
        rest = _blank(_SHORT_SMILES, rest)
    # Who writes all in capitals pastes nothing, unless it looks like a program's numbers.
    pasted = (_OUTPUT_LINE,) if re.search(r"[a-z]{3}|\*{3}|\d\.\d{3}", text) else ()
    for pattern in (_FENCED, _QUOTED_LINE, *pasted, _QUOTED):
        rest = _blank(pattern, rest)
    for match in list(_TOKEN.finditer(rest)):
        token = match[0].strip("().:?!'\"")
        if looks_like_smiles(token) or re.search(r"\[[A-Za-z0-9@+\-]+\]|>>|\*[A-Z(]", token):
            rest = rest[: match.start()] + " " * len(match[0]) + rest[match.end() :]
    return rest


def _blank(pattern: re.Pattern[str], text: str) -> str:
    # What stood there goes on ending a sentence.
    def blank(match: re.Match[str]) -> str:
        return " " * len(match[0]) if "\n" not in match[0] else "\n" + " " * (len(match[0]) - 1)

    return pattern.sub(blank, text)
