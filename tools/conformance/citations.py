"""Citations of FC-VI, VI-ARCH, VI-DG, VI-TCP, IFT and the RFCs of iWARP as comments, rows and requirements write them: "FC-VI 8.5.3 a) 2), C.3 rule 3".

A place in a document is a tuple of steps, so that a place within another begins with it:
    8.5.3 a) 2)               ("8", "5", "3", "a)", "2)")
    B.2.5 rule 4a b)          ("B", "2", "5", "rule 4", "a", "b)")
    7.5 item 14               ("7", "5", "item 14")
    Table 12                  ("Table 12",)
    VI-ARCH 2.5.1             ("VI-ARCH", "2", "5", "1")
    VI-DG 5.2 bit 4           ("VI-DG", "5", "2", "bit 4"): of the Status field; "control bit 3" of the Control field
    VI-DG 3.3.4 VIP_REJECT    ("VI-DG", "3", "3", "4", "VIP_REJECT")
    VI-TCP 3.2                ("VI-TCP", "3", "2"): draft-dicecco-vitcp-01
    IFT 4.2                   ("IFT", "4", "2"): draft-williams-iwarp-ift-01
    WARP 4                    ("WARP", "4"): row 4 of draft-jpink-warp-summary-00's requirements
    RFC 5040 5.5 rule 15      ("RFC 5040", "5", "5", "rule 15"); 5041, 5044 and 6581 alike
"""

import functools
import re
from typing import NamedTuple

# What follows one of these is cited from it, until the next one; other documents number their clauses alike.
_DOCUMENT = r"(?P<document>FC-VI|VI-ARCH|VI-DG|VI-TCP|FC-(?:FS|LS|GS|PI|AL|SW|BB)\b|RFC ?\d+|IFT\b|WARP\b|vipl-in-the-wild|wild|design|draft-[\w-]+)"
_DRAWING = r"(?P<drawing>[Tt]able|[Ff]igure)s? (?P<numbers>(?:[A-D]\.)?\d+)"
_CLAUSE = r"(?<![\w.-])(?P<clause>(?:[4-8]|[A-F])(?:\.\d{1,2})+|(?:clauses?|Annex(?:es)?) (?:[4-8]|[A-F]))(?![\w-]|\.\d)"
_TOKEN = re.compile(f"{_DOCUMENT}|{_DRAWING}|{_CLAUSE}")

# Places of these begin with the document's name: they number chapters, the VI documents give bits and return codes
# names of their own, the RFCs have rules, and appendices with letters.
RFCS = ("RFC 5040", "RFC 5041", "RFC 5043", "RFC 5044", "RFC 6581")
NAMED = ("VI-ARCH", "VI-DG", "VI-TCP", "IFT", *RFCS, "WARP")
DOCUMENTS = ("FC-VI", *NAMED)
_VI_CLAUSE = r"(?<![\w.-])(?P<clause>\d{1,2}(?:\.\d{1,2})+)(?![\w-]|\.\d)"
_VI_TOKEN = re.compile(f"{_DOCUMENT}|{_DRAWING}|{_VI_CLAUSE}")
_RFC_CLAUSE = r"(?<![\w.-])(?P<clause>(?:\d{1,2}|[A-D])(?:\.\d{1,2})+)(?![\w-]|\.\d)"
_RFC_TOKEN = re.compile(f"{_DOCUMENT}|{_DRAWING}|{_RFC_CLAUSE}")
_CHAPTER = re.compile(r" (?:chapters? )?(\d{1,2})(?![\w-]|\.\d)")
_BITS = re.compile(r" (?:status |(control ))?bits? (?=\d)")
_BIT = re.compile(r"(\d{1,2}(?::\d{1,2})?)(?!\w|\.\d)")
_CODE = re.compile(r" (VIP_\w+)")

_RULES = re.compile(r" (?:rules? |r)(?=\d)")
_RULE = re.compile(r"(\d{1,2})([a-e]?)(?!\w|\.\d)")
_ITEMS = re.compile(r" (items?|notes?) (?=\d)")
_NUMBER = re.compile(r"(\d{1,2})(?!\w|\.\d)")
_LETTER = re.compile(r" ?\b(?:([a-z])\)|([a-h])(?=[,:;.)]|$))")
_SUB_ITEM = re.compile(r" ?(\d)\)")
_SEPARATOR = re.compile(r", and |, | and | to | ")


class Citation(NamedTuple):
    place: tuple
    offset: int
    strict: bool  # its document is named before it: it must exist


def document_of(place: tuple) -> str:
    return place[0] if place[0] in NAMED else "FC-VI"


def steps_of(place: tuple) -> tuple:
    """Without the document."""
    return place[1:] if place[0] in NAMED else place


def text_of(place: tuple) -> str:
    """As it is cited; FC-VI goes without saying."""
    if place[0] in NAMED:
        return f"{place[0]} {text_of(place[1:])}" if place[1:] else place[0]
    clause = [step for step in place if re.fullmatch(r"[A-F]|\d+", step)]
    words = [".".join(clause)] * bool(clause)
    for step in place[len(clause):]:
        if len(step) == 1:  # the letter of rule 4a
            words[-1] += step
        else:
            words.append(step)
    return " ".join(words)


def within(inner: tuple, outer: tuple) -> bool:
    return inner[:len(outer)] == outer


def related(a: tuple, b: tuple) -> bool:
    """One is the other or within it; a whole clause such as 8 is too much to cite for what stands within it."""
    shorter, longer = sorted((a, b), key=len)
    steps = steps_of(shorter)
    broad = not steps or len(steps) < 2 and " " not in steps[0]
    return a == b or (within(longer, shorter) and not broad)


class _Reader:
    """Reads what stands behind a clause number: letters, rules, items, notes."""

    def __init__(self, text: str, at: int):
        self.text, self.at = text, at

    def take(self, pattern):
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def letters(self, base: tuple) -> list:
        """a) b), a) 1) 2), e: places below base; nothing if no letter follows."""
        found = []
        while match := self.take(_LETTER):
            place = (*base, f"{match.group(1) or match.group(2)})")
            numbers = []
            while sub := self.take(_SUB_ITEM):
                numbers.append((*place, f"{sub.group(1)})"))
            found += numbers or [place]
        return found

    def listed(self, read) -> list:
        """What read() finds, again after each separator."""
        found, more = read(), True
        while more:
            start = self.at
            more = self.take(_SEPARATOR) and read()
            if more:
                found += more
            else:
                self.at = start
        return found

    def rule(self, clause: tuple) -> list:
        match = self.take(_RULE)
        if not match:
            return []
        place = (*clause, f"rule {match.group(1)}", *match.group(2))
        return self.letters(place) or [place]

    def numbers(self, clause: tuple, word: str) -> list:
        """14, 1 to 10, 11, 13."""
        first = self.take(_NUMBER)
        if not first:
            return []
        last = int(first.group(1))
        if match := re.compile(r" to (\d{1,2})(?!\w)").match(self.text, self.at):
            self.at, last = match.end(), int(match.group(1))
        return [(*clause, f"{word} {n}") for n in range(int(first.group(1)), last + 1)]

    def rules(self, clause: tuple) -> list:
        found = self.listed(lambda: self.rule(clause))
        if self.take(re.compile(r",(?= [a-h]\))")):  # "rules 8a 8c, b)": of each
            shared = [place[len(clause):] for place in self.letters(clause)]
            found = [(*place, *letter) for place in found for letter in shared]
        return found

    def bit(self, clause: tuple, field: str) -> list:
        match = self.take(_BIT)
        if not match:
            return []
        return [(*clause, f"{field}bit{'s' * (':' in match.group(1))} {match.group(1)}")]

    def named_places(self, clause: tuple) -> list:
        """Bits of a descriptor (VI-DG 5.2), a return code of a call (chapter 3), rules of an RFC, or all of the clause."""
        if clause[0] in RFCS and self.take(_RULES):
            return self.rules(clause)
        if match := self.take(_BITS):
            return self.listed(lambda: self.bit(clause, match.group(1) or ""))
        if clause[:2] == ("VI-DG", "3") and (match := self.take(_CODE)):
            return [(*clause, match.group(1))]
        return [clause]

    def places(self, clause: tuple) -> list:
        if clause[0] in NAMED:
            return self.named_places(clause)
        if self.take(_RULES):
            return self.rules(clause)
        if match := self.take(_ITEMS):
            word = match.group(1).rstrip("s")
            return self.listed(lambda: self.numbers(clause, word))
        return self.letters(clause) or [clause]


def _drawings(match: re.Match, reader: _Reader) -> list:
    """Tables 13 and 14; Tables 1 and 3 to 12."""
    kind = match.group("drawing").capitalize()
    number = re.compile(r"((?:[A-D]\.)?\d{1,2})(?![\w.]\w)")
    places, previous = [], None
    reader.at = match.start("numbers")
    while found := reader.take(number):
        text = found.group(1)
        through = range(int(previous) + 1, int(text)) if previous and text.isdigit() else ()
        places += [(f"{kind} {n}",) for n in (*through, text)]
        start = reader.at
        separator = reader.take(re.compile(r" to |, | and |/"))
        previous = text if separator and separator.group() == " to " else None
        if separator and not number.match(reader.text, reader.at):
            reader.at = start
            break
    return places


def _prefix(document: str) -> tuple:
    return (document,) if document in NAMED else ()


def _clause(match: re.Match, reader: _Reader, document: str) -> list:
    words = match.group("clause").split()
    return reader.places((*_prefix(document), *words[-1].split(".")))


def _through(text: str, last: Citation, found: list) -> list:
    """6.2 to 6.6: the clauses in between."""
    first = found[-1].place if found else ()
    joined = text[:last.offset].endswith(" to ") and len(first) == len(last.place) and first[:-1] == last.place[:-1]
    if not joined or not (first[-1].isdigit() and last.place[-1].isdigit()):
        return []
    between = range(int(first[-1]) + 1, int(last.place[-1]))
    return [Citation((*first[:-1], str(n)), last.offset, last.strict) for n in between]


def _follower(text: str, at: int) -> int:
    """What follows a comma, "and" or "to" belongs to the same list."""
    return re.compile(r"(?:, | and | to |; |/| (?=[Tt]able|[Ff]igure))?").match(text, at).end()


def _token_of(document: str):
    if document in RFCS:
        return _RFC_TOKEN
    return _VI_TOKEN if document in NAMED else _TOKEN


@functools.cache
def parse(text: str, document: str = "FC-VI") -> list:
    """Every citation in a comment; of the same text the same list, not to be changed. What names no document counts as `document`'s,
    without being strict."""
    found, strict_until, at = [], -1, 0
    while match := _token_of(document).search(text, at):
        at = match.end()
        if match.group("document"):
            document = match.group("document")
            strict_until = at + 2
            chapter = _CHAPTER.match(text, at) if document in NAMED else None
            if chapter:  # "VI-DG 5", which is no clause anywhere else
                found.append(Citation((document, chapter.group(1)), match.start(), True))
                at = chapter.end()
                strict_until = _follower(text, at)
            continue
        if document not in DOCUMENTS:
            continue
        reader = _Reader(text, at)
        strict = match.start() <= strict_until
        if match.group("drawing"):
            places = [(*_prefix(document), *place) for place in _drawings(match, reader)]
        else:
            places = _clause(match, reader, document)
        citations = [Citation(place, match.start(), strict) for place in places]
        found += (_through(text, citations[0], found) if citations else []) + citations
        at = max(reader.at, match.end())
        if strict:
            strict_until = _follower(text, at)
    return found


def parse_place(text: str, document: str = "FC-VI") -> tuple:
    """The one place that a requirement's name is; ValueError if it is none. Without a document it is `document`'s."""
    if document in NAMED and re.fullmatch(r"\d{1,2}", text):
        return (document, text)  # a chapter
    places = parse(text, document)
    names = [text_of(places[0].place), text_of(steps_of(places[0].place))] if len(places) == 1 else []
    if text.removeprefix("FC-VI ") not in names:
        raise ValueError(f"{text!r} is not one place in the standard")
    return places[0].place
