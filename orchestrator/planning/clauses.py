"""The parts of a compound request, in the order in which they are to be done."""

from __future__ import annotations

import re

from orchestrator.planning.molecules import looks_like_smiles

#: what a part begins with: what somebody shall do
VERB = (
    r"(?:re-?)?(?:analy[sz]e|assess|build|calculate|check|cite|collect|compare|comput\w*|confirm|convert"
    r"|cross-?check|derive|design|determine"
    r"|discuss|draw|estimate|evaluate|evolve|examine|explain|explore|extract|fetch|find|generate|get|give|google"
    r"|identify|index|inspect|let"
    r"|list|locate|look|make|map|measure|name|obtain|optimi[sz]e|perform|plot|predict|prepare|propose|quote|rank"
    r"|read|relax|render|report"
    r"|reproduce|retrieve|review|run|score|screen|search|see|set\s+up|show|simulate|start|study|submit|suggest"
    r"|summari[sz]e|survey|take|tell|throw|write|pick|cross|paint|drop|sketch|count|describe|proceed|go\s+(?:ahead|on|and)|search"
    r"|test|tabulate|use|validate|verify|visuali[sz]e|what|where|work\s+out|do|put|feed|pull|state|provide"
    r"|equilibrate|solvate|heat|x-?tb-optimi[sz]e)"
)
_ASK = (
    r"(?:please\s+|also\s+|finally\s+|lastly\s+|next\s+|then\s+|afterwards\s+|i\s+(?:want|need)\s+you\s+to\s+"
    r"|could\s+you\s+|can\s+you\s+|you\s+can\s+)*"
)
_LEAD = (
    r"(?:(?:with|for|from|using|on|at|in|once|after|by|when)\s+[^,;.]{1,60},\s*"
    r"|(?:when|once|if|as\s+soon\s+as)\s+[^,;.]{1,40}?\b(?:found|yes|so|valid|not|finished|done|there|ready|complete|converged|in)\s*,?\s*)?"
)
_THEN = (
    rf"(?:and|,)?\s*\b(?:then|afterwards?|thereafter|subsequently|(?<=,\s)next|(?<=and\s)next|next(?=\s*[,:]|\s+{VERB})|finally|lastly|after\s+that|after\s+which"
    r"|followed\s+by|meanwhile"
    r"|at\s+the\s+same\s+time|in\s+parallel|separately|independently|thirdly|secondly|firstly|in\s+addition"
    r"|additionally|by\s+the\s+way|while\s+you(?:'re|\s+are)\s+at\s+it|apart\s+from\s+that)\b[,:]?"
)
_SENTENCES = re.compile(
    r"```.*?(?:```|\Z)|(?P<cut>;|\s-+>\s|\s=>\s|→|\n+\s*(?:\d+[.)]|[-*•]|\(?[a-h1-9ivx]{1,3}\))\s+"
    r"|^\s*(?:\d+[.)]|[-*•])\s+|(?:,?\s*\band\b)?\s*(?<![\w)\]}])\(?(?:[a-h]|[1-9]|i{1,3}|iv|vi?)\)\s+"
    r"|(?<=[?!])\s+|(?<=\w\w[.])\s+|\s[-–—]{1,2}\s(?=(?:I|we|could|can|please|just|but|so|then|now)\s)|(?<=[.)\]])\s+(?=[A-Z\"'`(\[])|\n{2,}|\n(?=[A-Z][a-z]+\s+[a-z]))",
    re.DOTALL,
)
_PARTS = re.compile(
    rf"```.*?(?:```|\Z)|(?P<cut>{_THEN}(?=\s)"
    rf"|,?\s*\band\b,?\s*(?:separately|independently|meanwhile|finally|lastly|afterwards|also|additionally),?(?=\s)"
    rf"|,?\s*(?:\band\b|&)(?=\s*,?\s*{_LEAD}{_ASK}{VERB}\b)"
    rf"|,(?=\s*{_ASK}{VERB}\b)"
    rf"|,\s*(?:so|but|hence|therefore)\b(?=\s+(?:{_ASK}{VERB}|please|could|can|I|we|go|now)\b)"
    r"|,?\s*\b(?:and|plus)\b(?=\s+(?:(?:the|any|some|a|few|two|three|five|recent|latest|newest"
    r"|relevant)\s+)*(?:papers|literature|publications|articles"
    r"|references|news|citations|preprints)\b))",
    re.IGNORECASE | re.DOTALL,
)
_PHRASES = re.compile(
    r"```.*?(?:```|\Z)|(?P<cut>[,:]\s+(?:and\s+|plus\s+)?|\s+(?:and|plus|&|as\s+well\s+as)\s+)", re.DOTALL
)
#: within a sentence that ends, only a capital begins the next
_SENTENCE_END = re.compile(r"(?:\b(?:e\.g|i\.e|cf|vs|approx|incl|no|fig|al|etc|dr|prof))\.$", re.IGNORECASE)
#: "with that structure, run …" is one part
_INTRODUCTION = re.compile(
    r"\s*(?:and\s+)?(?:with|for|from|using|on|at|in|given|by|based\s+on|according\s+to)\s+(?:that|this|the|these|those|its|their|it|them|each|our|my)\b"
    r"(?:\s+\w+){0,4}\s*",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"^\s*before\s+(?P<later>(?:you\s+)?\w+ing\b[^,]*|you\s+[^,]*|{VERB}[^,]*),\s*(?P<first>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_FIRST = re.compile(
    rf"^\s*(?:after|once|having)\s+(?P<first>(?:you\s+have\s+|having\s+)?\w+(?:ing|ed)\b[^,]+?),?\s+(?P<later>{VERB}\b.+)$",
    re.IGNORECASE | re.DOTALL,
)
_AFTER = re.compile(r"^(?P<later>.+?)\s*,?\s+(?:but\s+)?(?:only\s+)?after\s+(?P<first>(?:you\s+have\s+)?\w+(?:ing"
                    r"|ed)\b.+)$",
                    re.IGNORECASE | re.DOTALL)  # fmt: skip


def split(text: str) -> list[str]:
    """Give the clauses of a request, in the order of their work; one if it is not compound."""
    clauses: list[str] = []
    for sentence in _cut(_SENTENCES, text):
        for part in _in_order(sentence):
            clauses += _cut(_PARTS, part)
    return [clause.strip(" ,\n\t") for clause in clauses if re.search(r"\w", clause)]


def is_bare_verb(text: str) -> bool:
    """Tell whether a request is a verb and no more: what shall be done, and nothing to do it to."""
    return bool(re.fullmatch(rf"\W*{_ASK}{VERB}(?:\s+(?:it|this|that|them|again))?\W*", text, re.IGNORECASE))


def phrases(clause: str) -> list[str]:
    """Give what commas, colons and "and" set apart within a clause."""
    return [phrase for phrase in _cut(_PHRASES, clause) if re.search(r"\w", phrase)]


def _cut(pattern: re.Pattern[str], text: str) -> list[str]:
    parts: list[str] = []
    last = 0
    for match in pattern.finditer(text):
        if match["cut"] is None or _SENTENCE_END.search(text[: match.start()].rstrip() or " "):
            continue
        if _within_smiles(text, match.start()) or _quoted(text, match.start()):
            continue
        if match["cut"].startswith(",") and _INTRODUCTION.fullmatch(text[last : match.start()]):
            continue
        parts.append(text[last : match.start()])
        last = match.end()
    return [*parts, text[last:]]


def _in_order(sentence: str) -> list[str]:
    """Put what is to be done first in front."""
    for pattern in (_BEFORE, _FIRST, _AFTER):
        if match := pattern.match(sentence):
            return [match["first"], match["later"]]
    return [sentence]


def _within_smiles(text: str, place: int) -> bool:
    if text[place : place + 1].isspace():
        return False
    token = re.search(r"\S*$", text[:place])
    return bool(token and token[0] and looks_like_smiles(token[0] + (re.match(r"\S*", text[place:]) or [""])[0]))


def _quoted(text: str, place: int) -> bool:
    line = text[text.rfind("\n", 0, place) + 1 : place].replace("```", "")
    return line.count('"') % 2 == 1 or line.count("`") % 2 == 1
