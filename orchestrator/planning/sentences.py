"""Whether a sentence asks for something, or only tells what is the case."""

from __future__ import annotations

import re

from orchestrator.planning.clauses import VERB

#: what asks, wherever it stands in a sentence
_WH = r"(?:what|which|where|how|who|whose|when|why|whether)"
_ASKS = re.compile(
    rf"\?|:\s*\w|(?:^|[,:;–—-])\W*(?:(?:and|but|so|or|also)\s+)*{_WH}\b"
    rf"|\b(?:please|pls|kindly|(?:could|can|would|will|might)\s+you|(?:tell|show|know|see|wonder\w*|ask\w*|find\s+out|explain|idea|sure|understand|decide|check|curious|of)"
    rf"\s+(?:\w+\s+)?{_WH}|let\s+(?:me|us)\s+(?:have|see|know)|let['’]s|(?:I|we)\s*(?:['’]d|\s+would|\s+should)\s+"
    r"(?:\w+\s+)?(?:like|love|prefer|need|be\s+(?:\w+\s+)?(?:grateful|interested|glad|happy))|(?:I|we)\s+(?:\w+\s+)?"
    r"(?:need|want|wish|require|ask|must\s+(?:know|have))|(?:I\s*['’]?a?m|we\s*(?:['’]re|\s+are))\s+(?:\w+\s+)?"
    r"(?:after|looking|interested|search\w*|curious|missing)|(?:is|are)\s+(?:needed|wanted|required|missing)"
    r"|what\s+remains|would\s+(?:do|help|be\s+(?:nice|good|great|enough|helpful)))\b",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    rf"^\W*(?:(?:and|but|so|now|then|first|next|also|just|only|still|finally|meanwhile|ok(?:ay)?|right|well|again"
    rf"|therefore)[\s,]+)*(?:{VERB}|continue|carry|go|stop|cancel|kill|resume|restart|repeat|try|add|count|write"
    rf"|describe|put|bring|broaden|colour|color|ingest|import|browse|pack|correct|fix|help|try|apply|launch|start"
    rf"|have\s+a\s+look|wait|watch|tail|open|print|scan|vary|sweep|sample|grow|fit|integrate|decompose|partition|split|compose)\b",
    re.IGNORECASE,
)
_FINITE = (
    r"am|is|are|was|were|has|have|had|did|does|do|don['’]t|didn['’]t|isn['’]t|wasn['’]t|doesn['’]t|haven['’]t|can|cannot"
    r"|can['’]t|could|will|won['’]t|would|may|might|should|must|got|gets|gave|gives|went|goes|came|comes|says|said|tells|told"
    r"|thinks|thought|believes|claims|knows|knew|ran|seems|seemed|looks|looked|wrote|writes|stopped|stops|crashed|crashes"
    r"|failed|fails|died|rejects|rejected|refuses|helped|helps|made|saw|sees|took|takes|wants|wanted|asks|asked|suggests"
    r"|suggested|mentioned|mentions|needs|keeps|kept|remains|contains|holds|converged|spits|broke|breaks|cracks|feels|lies|lists|calls|quotes|states|serves|happens"
    r"|lost|concerns|stays|started|appears|agrees|agreed|matches|fits|explains|explained|arrived|settled|answers|answered"
    r"|confirms|confirmed|swells|leaks|dissolves|degrades|softens|becomes|became|turns|turned|insists|finished|ended"
)
#: after a pronoun or a name these are verbs; after a noun they may belong to the next one ("a published value")
_ALSO_FINITE = (
    r"read|heard|run|work|worked|works|study|studied|studies|show|shows|showed|found|finds|use|used|tried|computed"
    r"|calculated|measured|isolated|published|noticed|appreciate|love|like|hope|guess|suppose|prefer|agree|match|understand"
    r"|gather|learnt|learned|see|think|believe|know|say|claim|look|seem|get|go|give|come|mean|reported|reports|gets|simulated"
    r"|optimi[sz]ed|wait|remember|write|plan|join|joined|just|report"
)
#: somebody or something, and what it is, does or did
_TELLS = re.compile(
    r"^\W*(?i:(?:and|but|so|well|ok(?:ay)?|yes|no|also|because|since|as|though|although|yesterday|earlier|today|recently"
    r"|so\s+far|at\s+(?:last|least)|last\s+\w+|unfortunately|luckily|actually|apparently|here|good|great|before)[\s,]+)*"
    r"(?:(?i:(?:I|we|you|he|she|they|it|this|that|these|those|there|everything|everybody|nobody|somebody|people)"
    rf"(?:['’](?:s|m|re|ve|ll|d)|\s+(?:\w+ly\s+|just\s+|also\s+|already\s+|even\s+|still\s+|all\s+)?(?:{_FINITE}|{_ALSO_FINITE}))"
    r"|(?:all|both|nothing|my|our|the|this|that|his|her|their|its|these|those|some|many|most|a|an|one|two|three|\w+(?=\s+people))"
    rf"\s+[^?,;:]{{0,60}}?\s?(?:['’](?:s|re|ve)\s+(?:been|not|a|the)|\b(?:{_FINITE})))\b"
    r"|[A-Z][\w.]*(?:\s+[A-Z][\w.]*|\s+et\s+al\.?)*\s+"
    r"(?:is|are|was|were|has|had|says|said|told|thinks|wants|wanted|asked|suggested|mentioned|claims|claimed|reports|reported"
    r"|found|gave|gives|writes|wrote|insists|needs|believes|stopped|failed|crashed|finished|converged|published|measured)\b)"
    r"|^\W*(?i:(?:our|my|the|some)\s+(?:\w+\s+){0,2}(?:people|colleagues?|groups?|students?|referees?|reviewers?|partners?)"
    r"\s+(?:want|need|say|think|believe|ask|claim|prefer|like)s?)\b|^\W*\w+\s+warnings?\b|\b(?:I|we)\s+(?:already\s+)?(?:know|have\s+(?:got\s+)?already)\b",
)


def asks(text: str) -> bool:
    """Tell whether a sentence asks or orders."""
    return bool(_ASKS.search(text) or _ORDERS.search(text))


def only_tells(text: str) -> bool:
    """Tell whether a sentence is a statement, and asks for nothing; a bare phrase is none."""
    return bool(_TELLS.search(text)) and not asks(text)
