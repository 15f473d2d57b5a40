"""What is no work for an agent: greetings, thanks, questions about Simrelay; and what nothing is started for."""

from __future__ import annotations

import re

from orchestrator.planning.plain import without_quotes


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_HELLO = _any(
    r"^\W*(?:hi|hello|hey|hallo|hiya|howdy|greetings|good\s+(?:morning|afternoon|evening|day)"
    r"|dear\s+\w+)\b(?:\s+(?:there|all|again"
    r"|everyone|simrelay|team|folks))?[\s,.!:;-]*",
)
_BYE = _any(
    r"\b(?:good\s?bye|bye(?:\s?bye)?(?:\s+for\s+now|\s+then)?|see\s+you(?:\s+(?:later|tomorrow|soon|next\s+\w+))?"
    r"|farewell|cheerio|good\s+night|have\s+a\s+(?:nice|good)\b"
    r"[^.!?]*|until\s+(?:tomorrow|next\s+time)|talk\s+to\s+you\s+\w+)\b"
)
_THANKS = _any(
    r"\b(?:many\s+|a\s+lot\s+of\s+)?(?:thanks|thank\s+you|thx|ta|cheers|much\s+obliged|appreciated?|well\s+done"
    r"|great\s+(?:job|work)"
    r"|nice\s+work|good\s+job)\b(?:\s+(?:a\s+lot|so\s+much|very\s+much|a\s+million|again"
    r"|ever\s+so\s+much))?(?:\s+for\s+[^.!?,;]*)?[.!,]*"
)
_ABOUT_US = _any(
    r"\bwho\s+(?:are|r)\s+(?:you|u)\b|\bwho\s+(?:made|built|wrote|created|runs)\s+(?:you|this|simrelay)\b",
    r"\bwhat\s+(?:are\s+you|is\s+(?:this(?:\s+(?:thing|tool|program|system))?|simrelay)|can\s+(?:you|i|one"
    r"|we)\s+(?:do|ask|help|compute|use)"
    r"|do\s+you\s+do|else\s+can\s+you)\b(?:\s+(?:for\s+(?:me|us)|here|with\s+(?:this|you)|you))?",
    r"\bwhat\s+(?:sorts?|kinds?|types?)\s+of\s+(?:things|questions|requests|simulations|analyses|tasks|calculations|work"
    r"|jobs)\s+can\b[^.?!]*",
    r"\b(?:which|what)\s+(?:agents|abilities|capabilities|tools|features)\s+(?:do\s+you|are|can|does)\b[^.?!]*",
    r"\bhow\s+(?:do|can|does)\s+(?:you|i|one|we|this|simrelay)\s+(?:work|use\s+(?:you|this|simrelay)|ask|start"
    r"|get\s+started)\b[^.?!]*",
    r"\b(?:can|could)\s+you\s+(?:help(?:\s+me)?|explain\s+what\s+you\s+(?:do|can\s+do|are\s+(?:able\s+to\s+do|for))"
    r"|introduce\s+yourself)\s*(?:[?.!]|please|$)",
    r"\btell\s+me\s+(?:about\s+yourself|what\s+you\s+can\s+do|more\s+about\s+(?:you|simrelay))\b",
    r"^\W*help(?:\s+(?:me|please))?\W*$",
    r"\bhow(?:'s|\s+is|\s+are)\s+(?:it\s+going|you|things|everything|life)\b(?:\s+(?:doing|today|going))*",
    r"\bwhat'?s\s+up\b|\bany(?:body|one)\s+there\b|\bare\s+you\s+(?:there|a\s+(?:bot|robot|human|machine|program)|human|real|awake)\b",
    r"\bnice\s+to\s+meet\s+you\b",
)
#: said about work that was done, after thanks
_PRAISE = _any(
    r"^\W*(?:that|this|these|those|they|it|the|all|everything|both|what\s+a|so|very|really|just|perfect|great"
    r"|brilliant|gorgeous|lovely"
    r"|excellent|awesome|wonderful|super|ok|okay|fine|good|nothing|no|i|we|you|your|my)\b[^?]*$"
)
_WISH = _any(
    r"\?\s*$|\b(?:could|can|would|will)\s+you\b|\bplease\b|\bnow\b|\bi\s+(?:need|want|would\s+like|should\s+like)\b"
    r"|\bi'd\s+like\b"
)

_INJECTION = _any(
    r"\b(?:ignore|disregard|forget|override|bypass|circumvent)\b[^.!?\n]{0,40}\b(?:instructions?|rules?|prompts?"
    r"|polic(?:y|ies)|guard\w*"
    r"|safety|restrictions?|constraints?|limits?|approvals?|above|previous)\b",
    r"^\s*(?:system|assistant|developer|admin|root)\s*(?:prompt|message)?\s*[:>]",
    r"\b(?:approval|permission|access)\s+(?:is|was|has\s+been)\s+(?:hereby\s+)?(?:already\s+)?(?:granted|given"
    r"|waived)\b|\bwithout\s+(?:asking|any\s+approval)",
    r"\b(?:jailbreak|developer\s+mode|dan\s+mode|system\s+prompt|your\s+(?:hidden\s+|initial\s+"
    r"|original\s+)?(?:prompt|instructions))\b",
    r"\b(?:you\s+are\s+now|pretend\s+(?:to\s+be|you)|act\s+as)\b[^.]{0,40}\b(?:unrestricted|root|admin\w*"
    r"|no\s+(?:rules|limits)|shell|terminal)",
    r"\b(?:delete|remove|wipe|erase|drop|kill|cancel|destroy|purge|flush|corrupt)\b[^.!?\n]{0,25}\b(?:all|every"
    r"|everybody'?s|everyone'?s|the\s+whole"
    r"|other\s+users?'?)\b[^.!?\n]{0,20}\b(?:jobs?|files?|data|runs?|results?|queue|database|redis|workspace|users?"
    r"|keys|tables?|records?)\b",
    r"\b(?:api[\s_-]?keys?|passwords?|passwd|credentials?|secret\s+(?:key|token)s?|access\s+tokens?|private\s+keys?"
    r"|environment\s+variables|id_rsa"
    r"|\.env\b|bearer\s+token)",
    r"/etc/|/proc/|~/\.ssh|\brm\s+-[rf]|\$\(|\|\s*(?:ba|z)?sh\b|\b(?:curl|wget)\s+\S*(?:http|\.sh)|\bsudo\b"
    r"|\bchmod\b|\bnc\s+-|\bdd\s+if=|:\(\)\s*\{"
    r"|\beval\(|\bos\.system|\b__import__|\bdrop\s+table\b|\bflushall\b|\bshutdown\s+(?:now|-)|&&\s*\w+"
    r"|\bmkfs\b|\bshell\s+command",
)
_WEAPONS = _any(
    r"\b(?:nerve\s+(?:agent|gas)s?|chemical\s+weapons?|bio(?:logical)?\s+weapons?|sarin|soman|tabun|novichok"
    r"|mustard\s+gas|phosgene\s+gas|vx|ricin"
    r"|anthrax|tatp|petn|rdx|hmtd|semtex|explosives?|detonators?|bombs?|molotov|incendiar\w+|dirty\s+bomb"
    r"|poison(?:s|ing|ous)?\s+(?:gas|someone"
    r"|people|my|the)|untraceable\s+poison|warfare\s+agents?|weaponi[sz]\w+)\b",
    r"\b(?:more|most|maximally)\s+(?:toxic|lethal|deadly)\b|\bkill\s+(?:people|humans?|someone|my|a\s+person)\b"
    r"|\blethal\s+dose",
)
_DRUGS = re.compile(
    r"\b(?:meth(?:amphetamine)?|fentanyl\w*|heroin|cocaine|crack|lsd|mdma|ecstasy|ghb|carfentanil|nitazenes?|spice"
    r"|krokodil|crystal\s+meth"
    r"|controlled\s+substances?|designer\s+drugs?|opioids?|cannabinoids?|amphetamines?)\b",
    re.IGNORECASE,
)
_MAKING = re.compile(
    r"\b(?:synthes\w*|make|making|cook\w*|yields?|prepar\w+|produc\w+|analogues?|analogs?|potent|potency|scheduled"
    r"|legal|precursors?|at\s+home"
    r"|extract\w*|sell|smuggl\w+|undetect\w+|from\s+pseudoephedrine)\b",
    re.IGNORECASE,
)
_WASTE = _any(
    r"\b(?:millions?|billions?|trillions?|\d{6,}|hundreds?\s+of\s+thousands|endless(?:ly)?"
    r"|infinite(?:ly)?)\s+(?:of\s+)?(?:\w+\s+){0,3}(?:jobs?|times"
    r"|calculations?|runs?|simulations?|molecules|optimi[sz]ations?|single\s+points?|steps?\s+of\s+nothing)\b",
    r"\b(?:fill|block|occupy|clog|saturate|exhaust|burn|waste|hog|use\s+up)\b[^.?!]{0,25}\b(?:every|all|whole"
    r"|entire|cluster|cores?|queue|cpus?|nodes?"
    r"|budget|hours|licen[cs]es)\b",
    r"\bjust\s+for\s+fun\b|\buntil\s+(?:somebody|someone|anybody|it)\s+(?:notices|crashes|breaks|dies|melts)"
    r"|\bas\s+many\s+jobs\s+as\s+possible\b"
    r"|\bon\s+every\s+(?:polymer|molecule|compound)\b|\bcrash\s+the\b|\bforever\b|\bdenial\s+of\s+service\b",
)
_OFF_TOPIC = _any(
    r"\b(?:write|compose|sing|tell|recite|make\s+up|draft|create|give)\b[^.?!]{0,30}\b(?:poems?|songs?|jokes?"
    r"|stor(?:y|ies)|limericks?|haikus?|essays?"
    r"|novels?|raps?|sonnets?|lyrics|love\s+letters?|cover\s+letters?|cv|fairy\s+tales?|birthday)\b",
    r"\b(?:homework|translate(?![^.?!]*\b(?:smiles|iupac|names?|inchi|selfies|formula)\b)|horoscope|recipe"
    r"|cook\s+(?:me|a|dinner)|lunch|dinner|pizza|football|soccer|match\s+results?|president|elections?"
    r"|politic\w*|prime\s+minister|votes?|parliament|weather|forecast|stock\s+(?:price|market)s?|bitcoin|crypto\w*"
    r"|lottery|movies?|films?\s+to\s+watch"
    r"|celebrit\w+|girlfriend|boyfriend|dating|holiday|vacation|flight\s+to|hotel|chess|sudoku|tax\s+return"
    r"|medical\s+advice|diagnos\w+)\b",
)
#: near to the field, and done by nobody here
_NOBODY = _any(
    r"\bdock(?:ing)?\b[^.?!]{0,40}\b(?:ligand|kinase|protein|pose|receptor|enzyme|pocket)"
    r"|\bligands?\b[^.?!]{0,20}\b(?:kinase|poses)"
    r"|\bprotein\s+(?:fold|structure)\w*|\b(?:fluid|gas)\s+flow\b|\bcfd\b|\bfinite\s+elements?\b"
    r"|\bbipolar\s+plates?\b|\bstack'?s?\b[^.?!]{0,20}\bplate"
    r"|\bsynthes[iy][sz]e\s+(?:\d|some|me)|\b\d+\s*(?:m|k)?g\s+of\b|\b(?:order|buy|ship"
    r"|purchase)\s+(?:me\s+)?(?:some\s+)?\d*\s*\w*\s*(?:chemicals?|reagents?|g\b)"
    r"|\bbook\s+(?:a|me|the)\b|\bsend\s+(?:an?\s+)?e?-?mail\b|\btrain\s+(?:a|the|me)\b[^.?!]*\b(?:network|model"
    r"|llm)\b|\bgen(?:es?|omes?)\b"
    r"|\bdna\b|\bcrispr\b"
)


def forbidden(text: str) -> str:
    """Tell why nothing is started for a request, in words; empty: nothing speaks against it."""
    plain = without_quotes(text)
    if _INJECTION.search(text):
        return "asks for something that no request may do here"
    if _WEAPONS.search(text) or (_DRUGS.search(text) and _MAKING.search(text)):
        return "is about harmful substances"
    if _WASTE.search(plain):
        return "would only use up the machines"
    if _OFF_TOPIC.search(plain):
        return "is nothing that Simrelay is for"
    return ""


def beyond(text: str) -> bool:
    """Tell whether a request is for work that no agent does, whatever else its words say."""
    return bool(_NOBODY.search(without_quotes(text)))


def is_only_polite(text: str) -> bool:
    """Tell whether a request greets, thanks or asks what Simrelay is, and wants nothing else."""
    thanked = bool(_THANKS.search(text) or _BYE.search(text))
    asked_about_us = bool(_ABOUT_US.search(text))
    rest = _HELLO.sub(" ", text)
    greeted = rest != text
    for pattern in (_ABOUT_US, _THANKS, _BYE):
        rest = pattern.sub(" . ", rest)
    clauses = [clause for clause in re.split(r"[.!;\n]+|(?<=\?)|,", rest) if re.search(r"\w", clause)]
    if not (thanked or asked_about_us or greeted):
        return False
    if asked_about_us:
        return all(_PRAISE.search(clause) for clause in clauses)
    if thanked:
        clauses = [re.sub(r"^\W*(?:and|but|also)\b", "", clause) for clause in clauses]
        said = [clause for clause in clauses if re.search(r"\w", clause)]
        return not any(_WISH.search(clause) for clause in said) and all(_PRAISE.search(clause) for clause in said)
    return not clauses


def without_manners(text: str) -> str:
    """Give a request without its greeting, its thanks and its goodbye."""
    for pattern in (_HELLO, _THANKS, _BYE):
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return text
