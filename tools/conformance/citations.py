"""Citations of FC-VI as comments, rows and requirements write them: "FC-VI 8.5.3 a) 2), C.3 rule 3".

A place in the standard is a tuple of steps, so that a place within another begins with it:
    8.5.3 a) 2)          ("8", "5", "3", "a)", "2)")
    B.2.5 rule 4a b)     ("B", "2", "5", "rule 4", "a", "b)")
    7.5 item 14          ("7", "5", "item 14")
    Table 12             ("Table 12",)
"""

import re
from typing import NamedTuple

# What follows one of these is cited from it, until the next one; other documents number their clauses alike.
_DOCUMENT = r"(?P<document>FC-VI|VI-ARCH|VI-DG|FC-(?:FS|LS|GS|PI|AL|SW|BB)\b|RFC ?\d+|vipl-in-the-wild|wild|design|draft-[\w-]+)"
_DRAWING = r"(?P<drawing>[Tt]able|[Ff]igure)s? (?P<numbers>(?:[A-D]\.)?\d+)"
_CLAUSE = r"(?<![\w.-])(?P<clause>(?:[4-8]|[A-F])(?:\.\d{1,2})+|(?:clauses?|Annex(?:es)?) (?:[4-8]|[A-F]))(?![\w-]|\.\d)"
_TOKEN = re.compile(f"{_DOCUMENT}|{_DRAWING}|{_CLAUSE}")

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
    strict: bool  # FC-VI is named before it: it must exist


def text_of(place: tuple) -> str:
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
    """One is the other or within it; a whole clause such as 8 is too much to cite."""
    shorter, longer = sorted((a, b), key=len)
    broad = len(shorter) < 2 and " " not in shorter[0]
    return within(longer, shorter) and not broad


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

    def places(self, clause: tuple) -> list:
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


def _clause(match: re.Match, reader: _Reader) -> list:
    words = match.group("clause").split()
    return reader.places(tuple(words[-1].split(".")))


def _through(text: str, last: Citation, found: list) -> list:
    """6.2 to 6.6: the clauses in between."""
    first = found[-1].place if found else ()
    joined = text[:last.offset].endswith(" to ") and len(first) == len(last.place) and first[:-1] == last.place[:-1]
    if not joined or not (first[-1].isdigit() and last.place[-1].isdigit()):
        return []
    between = range(int(first[-1]) + 1, int(last.place[-1]))
    return [Citation((*first[:-1], str(n)), last.offset, last.strict) for n in between]


def parse(text: str, document: str = "FC-VI") -> list:
    """Every citation of FC-VI in a comment. What names no document counts as `document`'s, without being strict."""
    found, strict_until, at = [], -1, 0
    while match := _TOKEN.search(text, at):
        at = match.end()
        if match.group("document"):
            document = match.group("document")
            strict_until = at + 2
            continue
        if document != "FC-VI":
            continue
        reader = _Reader(text, at)
        strict = match.start() <= strict_until
        places = _drawings(match, reader) if match.group("drawing") else _clause(match, reader)
        citations = [Citation(place, match.start(), strict) for place in places]
        found += (_through(text, citations[0], found) if citations else []) + citations
        at = max(reader.at, match.end())
        if strict:  # what follows a comma, "and" or "to" belongs to the same list
            follower = re.compile(r"(?:, | and | to |; |/| (?=[Tt]able|[Ff]igure))?").match(text, at)
            strict_until = follower.end()
    return found


def parse_place(text: str) -> tuple:
    """The one place that a requirement's name is; ValueError if it is none."""
    places = parse(text)
    if len(places) != 1 or text_of(places[0].place) != text:
        raise ValueError(f"{text!r} is not one place in the standard")
    return places[0].place
