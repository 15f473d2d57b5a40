"""What is no work for an agent: greetings, thanks, questions about Simrelay; and what nothing is started for."""

from __future__ import annotations

import re

from orchestrator.planning.plain import without_quotes
from orchestrator.planning.sentences import asks, only_tells


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


_HELLO = _any(
    r"^\W*(?:hi|hello|hey|hallo|hiya|howdy|greetings|good\s+(?:morning|afternoon|evening|day)"
    r"|dear\s+\w+)\b(?:\s+(?:there|all|again"
    r"|everyone|simrelay|team|folks))?[\s,.!:;-]*",
)
_BYE = _any(
    r"\b(?:good\s?bye|bye(?:\s?bye)?(?:\s+for\s+now|\s+then)?|see\s+(?:you|ya)(?:\s+(?:later|tomorrow|soon|then|around|again|next\s+\w+|(?:on|in|at|after|before)\s+[^.!?,;]*))?"
    r"|farewell|cheerio|good\s+night|have\s+a\s+(?:nice|good)\b"
    r"[^.!?]*|until\s+(?:tomorrow|next\s+time)|talk\s+to\s+you\s+\w+)\b"
)
_THANKS = _any(
    r"\b(?:many\s+|a\s+lot\s+of\s+)?(?:thanks|thank\s+you|thx|ta|cheers|much\s+obliged|appreciated?|well\s+done"
    r"|great\s+(?:job|work)"
    r"|nice\s+work|good\s+job)\b(?:\s+(?:with|on)\s+(?:the|this|that|my)\b[^.!?,;]*)?(?:\s+(?:a\s+lot|so\s+much|very\s+much|a\s+million|again"
    r"|ever\s+so\s+much))?(?:\s+for\s+[^.!?,;]*)?[.!,]*"
)
_ABOUT_US = _any(
    r"\bwho\s+(?:made|built|wrote|created|runs|developed|maintains|programmed)\s+(?:you|this|simrelay)\b",
    r"\bwhat\s+(?:is\s+(?:this(?:\s+(?:thing|tool|program|programme|system|service|software))?(?=\s*(?:[?.!,]|$|for\b|about\b))"
    r"|simrelay|it\s+(?:that\s+)?you\s+do)|(?:all\s+)?can\s+(?:you|i|one|we)\s+(?:do|ask|help|compute|use|offer)|do\s+you\s+do"
    r"|else\s+can\s+you|are\s+you(?:r)?\s+(?:abilities|limits|capable|able|good|for))\b"
    r"(?:\s+(?:for\s+(?:me|us)|here|with\s+(?:this|you)|you|of|at|to\s+do))*",
    r"\b(?:who|what)(?:\s+or\s+(?:who|what))?\s+(?:exactly\s+)?(?:are|r)\s+(?:you|u)\b(?!\s+\w+ing\b)",
    r"\bwhat\s+(?:sorts?|kinds?|types?)\s+of\s+(?:things?|questions?|requests?|simulations?|analys[ie]s|tasks?|calculations?"
    r"|work|jobs?|problems?|stuff)\s+(?:can|could|may|do|are|should|would)\s+(?:I|you|we|one|there|be)\b[^.?!]*"
    r"|\b(?:which|what)\s+kinds?\s+of\s+\w+\s+do\s+you\b[^.?!]*|\bdo\s+(?:they|you|runs|jobs)\s+cost\b[^.?!]*",
    r"\b(?:which|what)\s+(?:agents|abilities|capabilities|tools|features|languages|commands)\s+(?:do\s+you|are|can|does|could"
    r"|have\s+you)\b[^.?!]*",
    r"\bhow\s+(?:do|can|does|should|would|must)\s+(?:you|i|one|we|this|it|simrelay)\s+(?:work|use\s+(?:you|this|simrelay|it)|ask"
    r"|start(?:\s+an?\s+(?:new\s+)?(?:run|job|calculation|simulation)(?=\s*(?:[?.!]|$))|(?!\s+(?:an?|the|my)\b))|begin|get\s+started|talk\s+to\s+you|phrase|word)\b[^.?!]*",
    r"\b(?:can|could|would|will)\s+you\s+(?:(?:please|kindly)\s+)?(?:help(?:\s+me)?(?:\s+with\s+(?:something|a\s+(?:question|problem)|my\s+(?:work|research)))?(?=\s*(?:[?.!]|please|$|out\b))"
    r"|(?:explain|tell|show)(?:\s+(?:me|us|to\s+me))?\s+(?:[\w\s]{0,40}\s)?(?:what|how)\s+(?:(?:you|this|it|simrelay)\s+(?:do|can|are"
    r"|works?|is)|(?:I|we|one)\s+can\s+(?:ask|do|use))\b[^.?!]*|introduce\s+yourself)",
    r"\b(?:tell|explain|show)\s+(?:me|us)\s+(?:(?:a\s+(?:bit|little)\s+)?about\s+yourself|what\s+you\s+(?:can\s+do|do|are)|how\s+(?:this|you|it)\s+works?"
    r"|(?:more\s+)?about\s+(?:you|simrelay))\b",
    r"^\W*help(?:\s+(?:me|please))?\W*$",
    r"\bhow(?:['’]s|\s+is|\s+are)\s+(?:it\s+going|you|things|everything|life|your\s+day)\b(?:\s+(?:doing|today|going))*",
    r"\bwhat['’]?s\s+up\b|\bany(?:body|one)\s+(?:there|home)\b|\b(?:whether|if)\s+you\s+are\s+(?:there|online|awake|alive)\b|\bjust\s+testing\b"
    r"|\bis\s+(?:this|it|there)\s+(?:really\s+)?a\s+(?:person|human|bot|machine|program\w*|robot)\b[^.?!]*|\b(?:are|r)\s+you\s+(?:there|a\s+(?:(?:chat)?bot|robot|human|machine|program\w*|person|real\s+person|computer)|an\s+ai|human|real"
    r"|awake|busy|free|online|alive|working|ready|able\s+to\b[^.?!]*)\b|\bdo\s+you\s+(?:speak|understand|remember|know\s+me|ever"
    r"|sleep|learn|store|keep)\b[^.?!]*|\b(?:who|what)(?:\s+or\s+what)?\s+am\s+i\s+\w+\s+to\b|\bam\s+i\s+(?:talking|speaking|writing)\s+to\b[^.?!]*",
    r"\b(?:nice|good|glad|pleased)\s+to\s+(?:meet|see)\s+you\b|\b(?:happy|merry)\s+(?:new\s+year|christmas|easter|holidays|birthday)\b"
    r"|^\W*(?:ok(?:ay)?|alright|all\s+right|got\s+it|understood|i\s+see|noted|perfect|great|fine|cool|super|lol|haha)\W*$"
    r"|^\W*(?:ok(?:ay)?\W+)?(?:got\s+it|understood|i\s+see|noted)\W*$|\bsorry,?\s+wrong\s+\w+|\b(?:never\s?mind|forget\s+it)\b|\byou(?:['’]re|\s+are|\s+rock)\b(?:\s+(?:so|really|very|the))?"
    r"(?:\s+(?:great|awesome|helpful|good|kind|best|welcome|wonderful|fantastic))?(?=\s*(?:[.!,]|$))",
    # what is asked about Simrelay by its name, or about runs as such
    r"(?:^|[.?!,;]\s*)[^.?!]*(?:['’]s|\b(?:in|of|with|by|is|does|can|has|how|about|for|to|use|using|did|will|was|if|when|whether|why|that))\s+simrelay\b[^.?!]*",
    r"\b(?:does|do|will|can|would)\s+(?:a|my|the|all|running)\s+(?:runs?|jobs?)\s+(?:go\s+on|continue|survive|stop|keep|get\s+lost"
    r"|end|die)\b[^.?!]*",
    r"\bwhat\s+happens\s+(?:to\s+(?:my|a|the)\s+(?:runs?|jobs?|data)\s+)?(?:if|when)\s+(?:I|we|you|a\s+\w+|my\s+(?:laptop|computer|connection)"
    r"|the\s+(?:power|server|machine|connection|network))\b[^.?!]*",
    r"\b(?:where|how)\s+(?:do|can|could|will|would)\s+(?:I|we)\s+(?:find|see|get|download|read|follow|watch|access|approve|cancel)\s+"
    r"(?:(?:the\s+)?(?:progress|status|state|end|log)\s+of\s+)?(?:my|our|the|a|your)\s+(?:results|reports?|runs?|manual|documentation|docs|plans?|guide|help)\b[^.?!]*",
    r"(?:^|[.?!,;]\s*)(?=[^.?!]*\?)[^.?!]*\b(?:you|your)\b[^.?!]{0,40}\b(?:agents?|abilities|limits?|data|formats?|program(?:me)?s?"
    r"|engines|software|simulations|calculations|results|queue|memory|history|name|developers?|authors?|documentation|manual"
    r"|hardware|cluster|machines?|servers?|workers?|language\s+models?|llm)\b[^.?!]*",
    r"\b(?:which|what)\s+(?:programs|programmes|software|engines|formats|file\s+formats|hardware|agents|models)\s+do\s+you\b[^.?!]*"
    r"|\bhow\s+many\s+(?:agents|workers|users|tools)\b[^.?!]*",
    r"\b(?:can|may|should|must)\s+(?:I|we)\s+(?:close|shut|switch\s+off|turn\s+off|log\s+(?:out|off)|leave|disconnect|trust\s+you)\b[^.?!]*"
    r"|\b(?:are|is|where\s+(?:are|is)|who\s+can\s+(?:see|read))\s+(?:my|our)\s+(?:data|results|files|requests|runs|molecules)\b[^.?!]*",
    r"\bis\s+there\s+(?:an?\s+)?(?:manual|documentation|guide|tutorial|help\s+page|user\s+guide)\s+(?:for\s+(?:you|this)|here)\b",
)
#: said about work that was done, after thanks
_PRAISE = _any(
    r"^\W*(?:and\s+|but\s+|also\s+)?(?:that|this|these|those|it|what\s+a|so|very|really|just|perfect|great|brilliant|gorgeous"
    r"|lovely|excellent|awesome|wonderful|super|ok|okay|fine|good|nothing|no|much|exactly)\b(?:\s+(?!please\b)[^?]*)?$",
    r"^\W*(?:and\s+|but\s+|also\s+)?(?:the|all|everything|both)\b[^?]*\b(?:look|agree|fit|match|work|came|converged|helped|are|is"
    r"|was|were|needed|wanted)\w*\b[^?]*$|^\W*(?:all|everything)\W*$",
)
#: says nothing more
_FILLER = _any(
    r"^\W*(?:and|but|so|well|ok(?:ay)?|then|if\s+i\s+may(?:\s+ask)?|please|by\s+the\s+way|just\s+(?:curious|asking|wondering)|sorry"
    r"|for\s+(?:now|today)|simrelay|(?:dear\s+)?(?:all|team|colleagues?|everyone)|kind\s+regards|regards|best(?:\s+wishes)?|again|indeed|too"
    r"|on\s+\w+|lol|haha|everybody|before\s+i\s+[^:]*:?|good\s+at|hey|hi|(?:my\s+)?(?:dear|friend|mate|folks|bot|robot))?(?:\s+(?:and|then|so|again))?\W*$",
)

_INJECTION = _any(
    r"\b(?:ignore|disregard|forget|override|bypass|circumvent)\b[^.!?\n]{0,40}\b(?:instructions?|rules?|prompts?|everything|told"
    r"|polic(?:y|ies)|guard\w*"
    r"|safety|restrictions?|constraints?|limits?|approvals?|above|previous)\b",
    r"^\s*(?:system|assistant|developer|admin|root)\s*(?:prompt|message)?\s*[:>]",
    r"\b(?:approval|permission|access)\s+(?:is|was|has\s+been)\s+(?:hereby\s+)?(?:already\s+)?(?:granted|given"
    r"|waived)\b|\bwithout\s+(?:asking|(?:any\s+|my\s+)?(?:approval|permission|confirmation))"
    r"|\bpre-?approved\b|\b(?:do\s+not|don['’]t|never)\s+(?:ask|wait|bother)\b[^.!?\n]{0,25}\b(?:approval|permission|confirm\w*)"
    r"|\b(?:turn(?:ed)?|switch(?:ed)?)\s+off\s+(?:\w+\s+)?(?:validation|approvals?|safety|checks?|limits?|logging|filters?)\b"
    r"|\b(?:disable|skip|suppress)\s+(?:the\s+|all\s+|every\s+)?(?:validation|approvals?|safety|limits?|logging|filters?)\b"
    r"|\bhide\s+(?:it|them|this|these|everything)\s+from\b|</?\s*(?:system|request|instructions?|user|assistant)\s*>"
    r"|\[/?INST\]|<\|",
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
    r"|anthrax|botulin\w*|lewisite|cholinesterase|acetyl-?cholinesterase|nitro-?glycerine?|thermite|gunpowder|tatp|petn|rdx|hmtd|semtex|explosives?|detonators?|bombs?|molotov|incendiar\w+|dirty\s+bomb"
    r"|poison(?:s|ing|ous)?\s+(?:gas|someone"
    r"|people|my|the)|untraceable\s+poison|warfare\s+agents?|weaponi[sz]\w+)\b",
    r"\b(?:more|most|maximally)\s+(?:toxic|lethal|deadly)\b|\bkill\s+(?:people|humans?|someone|my|a\s+person)\b"
    r"|\blethal\s+dose|\b(?:crowded|public)\s+places?\b"
    r"|\b(?:harm|poison|hurt|attack|gas)\s+(?:people|humans?|someone|somebody|my|a\s+(?:person|crowd|neighbou?r))\b",
)
_DRUGS = re.compile(
    r"\b(?:meth(?:amphetamine)?|fentanyl\w*|heroin|cocaine|crack|lsd|mdma|ecstasy|ghb|carfentanil|nitazenes?|spice"
    r"|krokodil|crystal\s+meth|ketamine|psilocybin|oxycodone|psychoactive\w*|narcotics?"
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
    r"\b(?:millions?|billions?|trillions?|zillions?|\d{5,}|\d+(?:[ ,.']000)+|hundreds?\s+of\s+thousands|endless(?:ly)?"
    r"|infinite(?:ly)?)\s+(?:of\s+)?(?:\w+\s+){0,3}(?:jobs?|times|copies|instances|atoms?|particles?"
    r"|calculations?|runs?|simulations?|molecules|optimi[sz]ations?|single\s+points?|steps?\s+of\s+nothing)\b",
    r"\b(?:fill|block|occupy|clog|saturate|exhaust|burn|waste|hog|use\s+up)\b[^.?!]{0,25}\b(?:every|all|whole"
    r"|entire|cluster|cores?|queue|cpus?|nodes?"
    r"|budget|hours|licen[cs]es)\b",
    r"\bjust\s+for\s+fun\b|\buntil\s+(?:somebody|someone|anybody|it)\s+(?:notices|crashes|breaks|dies|melts)"
    r"|\bas\s+many\s+jobs\s+as\s+possible\b"
    r"|\bon\s+every\s+(?:polymer|molecule|compound)\b|\bcrash\s+the\b|\bforever\b|\bno\s+(?:time\s+)?limits?\b|\ball\s+(?:the\s+)?(?:nodes|cores|machines|workers)\b"
    r"|\bevery\s+(?:node|core|cpu|gpu|machine|worker)\b|\bdenial\s+of\s+service\b",
)
_OFF_TOPIC = _any(
    r"\b(?:write|compose|sing|tell|recite|make\s+up|draft|create|give)\b[^.?!]{0,30}\b(?:poems?|songs?|jokes?"
    r"|stor(?:y|ies)|limericks?|haikus?|essays?"
    r"|novels?|raps?|sonnets?|lyrics|love\s+letters?|cover\s+letters?|cv|fairy\s+tales?|birthday)\b",
    r"\b(?:homework|translate(?![^.?!]*\b(?:smiles|iupac|names?|inchi|selfies|formula)\b)|horoscope"
    r"|(?:cake|cooking|food|soup|bread)\s+recipe|cook\s+(?:me|a|dinner)|lunch|dinner|pizza|football|soccer|match\s+results?|president|elections?"
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
    r"|\bsynthes[iy][sz]e\s+(?:\d|some|me)|\b(?:make|prepare|deliver|weigh\s+out)\s+(?:me\s+)?\d+\s*(?:m|k)?g\s+of\b|\b(?:order|buy|ship"
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
    text = tidied(text)
    rest = _without_hello(text)
    for pattern in (_ABOUT_US, _THANKS, _BYE):
        rest = pattern.sub(" . ", rest)
    if rest == text:
        return False
    clauses = [clause for clause in re.split(r"[.!;:\n]+|(?<=\?)|,|\s[-–—]\s", rest) if re.search(r"\w", clause)]
    thanked = bool(_THANKS.search(text) or _BYE.search(text))
    said = (one for one in clauses if not only_tells(one) and not _FILLER.search(one))
    return all(thanked and _PRAISE.search(one) and not asks(one) for one in said)


def without_manners(text: str) -> str:
    """Give a request without its greeting, its thanks and its goodbye."""
    text = _without_hello(text)
    for pattern in (_THANKS, _BYE):
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return text


def tidied(text: str) -> str:
    """Give a request in single blanks, and without the "please" before it."""
    return re.sub(r"^(?:please|pls|kindly)\b[\s,:!]*", "", re.sub(r"[^\S\n]+", " ", text).strip(), flags=re.IGNORECASE)


def _without_hello(text: str) -> str:
    while match := _HELLO.match(text):
        if match.end() == match.start():
            break
        text = text[match.end() :]
    return text
