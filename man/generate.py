#!/usr/bin/env python3
"""Makes the manual page of each VIPL call, in mdoc(7), from man/calls/*.txt and the prototypes of vipl.h.

usage: generate.py HEADER CALLS_FOLDER VERSION OUTPUT_FOLDER

A file describes the calls of one clause of VI-DG chapter 3:

    # VipOpenNic - open a NIC
    clause: 3.1.1
    phase: Early Adopter
    see: VipCloseNic VipQueryNic

    Paragraphs of the description, with an empty line between them.

    ## Arguments
    - DeviceName: what it is; each parameter of the prototype, in its order.
      A line that goes on is indented.
    ## States
    ## Returns
    - VIP_SUCCESS: when; each return code once.
    ## Blocking
    ## Threads        (may be left out: the common sentence)
    ## Notes          (may be left out: what else VI-DG says, where we differ, and why)
    ## Example        (C that makes the call, indented by four spaces; tests/install/man_test.py says what it may use)

Calls, VIP_ constants and types are set by themselves; `so` marks an argument or a structure's member.
Anything that does not agree with the header is an error that names file and line.
"""

import re
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

DATE = "November 21, 2026"
PHASES = ("Early Adopter", "Functional", "Full Conformance")
SECTIONS = ("Arguments", "States", "Returns", "Blocking", "Threads", "Notes", "Example")
OPTIONAL = ("Threads", "Notes")
ANY_THREAD = "Any thread may call it at any time, a handler of the library too."


class SourceError(Exception):
    pass


class Call(NamedTuple):
    name: str
    parameters: list  # declarations as they stand in the header

    def arguments(self):
        return [argument_name(parameter) for parameter in self.parameters]


class Header(NamedTuple):
    calls: dict  # name -> Call
    codes: list  # VIP_RETURN in its order
    constants: set
    types: set


class Page(NamedTuple):
    where: str
    name: str
    purpose: str
    keys: dict
    sections: dict  # title -> lines; "" is the description


# ---- the header


def argument_name(parameter):
    handler = re.search(r"\(\s*\*\s*(\w+)\s*\)", parameter)
    return handler.group(1) if handler else re.findall(r"\w+", parameter)[-1]


def split_parameters(text):
    """At the commas that no parenthesis encloses."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [re.sub(r"\s*(\*+)\s*", r" \1", " ".join(part.split())).replace("( *", "(*") for part in parts]


def read_header(text):
    plain = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
    prototypes = re.findall(r"VIPL_API\s+VIP_RETURN\s+(Vip\w+)\((.*?)\);", plain, re.DOTALL)
    calls = {name: Call(name, split_parameters(parameters)) for name, parameters in prototypes}
    enumerations = re.findall(r"typedef enum (\w+) \{(.*?)\}", plain, re.DOTALL)
    members = {name: re.findall(r"\b(VIP_\w+)\b(?=\s*(?:,|=|$))", body.strip()) for name, body in enumerations}
    constants = set(re.findall(r"#define (VIP_\w+)", plain)).union(*members.values())
    types = set(re.findall(r"\b(VIP_\w+)\s*;", plain)) - constants
    return Header(calls, members["_VIP_RETURN"], constants, types)


# ---- the descriptions


def read_pages(path):
    pages = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        title = re.fullmatch(r"# (\w+) - (.+)", line)
        if title:
            pages.append(Page(f"{path.name}:{number}", title.group(1), title.group(2), {}, {"": []}))
        elif not pages:
            raise SourceError(f"{path.name}:{number}: '# Call - purpose' expected")
        else:
            read_line(pages[-1], line, f"{path.name}:{number}")
    return pages


def read_line(page, line, where):
    key = re.fullmatch(r"(clause|phase|see): (.+)", line)
    heading = re.fullmatch(r"## (.+)", line)
    if key and page.sections == {"": []}:
        page.keys[key.group(1)] = key.group(2)
    elif heading:
        if heading.group(1) not in SECTIONS or heading.group(1) in page.sections:
            raise SourceError(f"{where}: section '{heading.group(1)}' is unknown or there twice")
        page.sections[heading.group(1)] = []
    elif line or page.sections != {"": []}:
        list(page.sections.values())[-1].append(line)


def items(page, title):
    """(word, text) of a section's list."""
    found = []
    for line in page.sections[title]:
        first = re.fullmatch(r"- (\w+): (.+)", line)
        if first:
            found.append([first.group(1), first.group(2)])
        elif line.startswith("  ") and found:
            found[-1][1] += " " + line.strip()
        elif line:
            raise SourceError(f"{page.where}: {title}: '{line}' is no '- Name: text'")
    return found


def check(page, header):
    def refuse(text):
        raise SourceError(f"{page.where}: {page.name}: {text}")

    if page.name not in header.calls:
        refuse("no such call in the header")
    if page.keys.get("phase") not in PHASES or not re.fullmatch(r"3\.\d+\.\d+", page.keys.get("clause", "")):
        refuse("phase or clause is missing or wrong")
    missing = [title for title in SECTIONS if title not in page.sections and title not in OPTIONAL]
    if missing:
        refuse(f"no section {', '.join(missing)}")
    if [name for name, _ in items(page, "Arguments")] != header.calls[page.name].arguments():
        refuse(f"arguments are not {header.calls[page.name].arguments()}")
    codes = [name for name, _ in items(page, "Returns")]
    if len(set(codes)) != len(codes) or not set(codes) <= set(header.codes) or codes[:1] != ["VIP_SUCCESS"]:
        refuse(f"{codes}: not VIP_SUCCESS, then other members of VIP_RETURN, each once")
    for name in page.keys.get("see", "").split():
        if name not in header.calls:
            refuse(f"see: {name} is no call")
    if not any(f"{page.name}(" in line for line in page.sections["Example"]):
        refuse("its Example does not make the call")


# ---- mdoc


def escape(text):
    return re.sub(r"^(?=[.'])", r"\\&", text.replace("\\", r"\e"))


def macro(word, page, header):
    """The macro that sets this word; None for plain text."""
    if word.startswith("`"):
        name = word.strip("`")
        return f"Fa {name}" if name in header.calls[page.name].arguments() else f"Va {name}"
    if word == page.name:
        return "Nm"
    if word in header.calls:
        return f"Xr {word} 3"
    if word in header.constants:
        return f"Dv {word}"
    if word in header.types:
        return f"Vt {word}"
    if re.match(r"VIP_|Vip[A-Z]", word):
        raise SourceError(f"{page.where}: {page.name}: {word} is not in the header")
    return None


def set_plain(words):
    """One sentence a line, as mdoc wants it, and no long lines."""
    sentences = re.sub(r"(?<=[.!?]) (?=\S)", "\n", " ".join(words)).split("\n") if words else []
    return [escape(line) for sentence in sentences for line in textwrap.wrap(sentence, 78, break_on_hyphens=False)]


def set_marked(opening, found, closing):
    """A macro line with the punctuation that touches its word."""
    name, *words = found.split()
    return "." + " ".join([name, *opening, *words, *closing])


def set_text(text, page, header):
    """Lines of mdoc. A marked word gets a line of its own."""
    lines, plain = [], []
    for chunk in text.split():
        opening, word, closing = re.fullmatch(r"([(\[]*)(.*?)([.,:;)\]]*)", chunk).groups()
        found = macro(word, page, header)
        if found is None:
            plain.append(chunk)
        else:
            lines += [*set_plain(plain), set_marked(opening, found, closing)]
            plain = []
    return lines + set_plain(plain)


def paragraphs(lines):
    return [" ".join(block.split("\n")) for block in "\n".join(lines).strip().split("\n\n") if block.strip()]


def set_paragraphs(lines, page, header):
    result = []
    for number, paragraph in enumerate(paragraphs(lines)):
        result += ([".Pp"] if number else []) + set_text(paragraph, page, header)
    return result


def set_list(title, item_macro, width, page, header):
    lines = [f".Bl -tag -width {width}"]
    for name, text in items(page, title):
        lines += [f".It {item_macro} {name}", *set_text(text, page, header)]
    return [*lines, ".El"]


def synopsis(call):
    """The parameters of a handler are set one by one: mdoc joins them, and breaks lines nowhere else."""
    return [".In vipl.h", ".Ft VIP_RETURN", f".Fo {call.name}",
            *(f'.Fa "{part}"' for parameter in call.parameters for part in parameter.split(", ")), ".Fc"]


def conformance(page, header):
    lines = [f"VI-DG {page.keys['clause']}; conformance phase: {page.keys['phase']}", ".Pq VI-DG 2.2 ."]
    notes = page.sections.get("Notes", [])
    return lines + ([".Pp", *set_paragraphs(notes, page, header)] if notes else [])


def example(page):
    """C as it stands, without its indentation."""
    code = textwrap.dedent("\n".join(page.sections["Example"])).strip("\n")
    return [".Bd -literal -offset indent", *(escape(line) for line in code.split("\n")), ".Ed"]


def see_also(page):
    references = [f".Xr {name} 3 ," for name in sorted(page.keys.get("see", "").split(), key=str.lower)]
    return [*references, ".Xr vipl 7"]


def make_page(page, header, version):
    widest = max((name for name, _ in items(page, "Returns")), key=len)
    sections = [
        ("NAME", [f".Nm {page.name}", f".Nd {page.purpose}"]),
        ("LIBRARY", ["Virtual Interface Provider Library", ".Pq libvipl , Fl lvipl"]),
        ("SYNOPSIS", synopsis(header.calls[page.name])),
        ("DESCRIPTION", set_paragraphs(page.sections[""], page, header)),
        ("ARGUMENTS", set_list("Arguments", "Fa", "Ds", page, header)),
        ("STATES", set_paragraphs(page.sections["States"], page, header)),
        ("RETURN VALUES", set_list("Returns", "Dv", widest, page, header)),
        ("BLOCKING", set_paragraphs(page.sections["Blocking"], page, header)),
        ("THREADS", set_paragraphs(page.sections.get("Threads", [ANY_THREAD]), page, header)),
        ("CONFORMANCE", conformance(page, header)),
        ("EXAMPLES", example(page)),
        ("SEE ALSO", see_also(page)),
    ]
    lines = [f'.\\" Made by man/generate.py from man/calls/{page.where.split(":")[0]}: change that one.',
             f".Dd {DATE}", f".Dt {page.name.upper()} 3", f".Os fcvi {version}"]
    for title, body in sections:
        lines += [f".Sh {title}", *body] if body else []
    return "\n".join(lines) + "\n"


def main():
    header_path, folder, version, output = sys.argv[1:]
    header = read_header(Path(header_path).read_text(encoding="utf-8"))
    pages = [page for path in sorted(Path(folder).glob("*.txt")) for page in read_pages(path)]
    names = [page.name for page in pages]
    wrong = {name for name in names if names.count(name) > 1} | (set(header.calls) - set(names))
    if wrong:
        raise SourceError(f"{folder}: not described exactly once: {', '.join(sorted(wrong))}")
    Path(output).mkdir(parents=True, exist_ok=True)
    for page in pages:
        check(page, header)
        Path(output, f"{page.name}.3").write_text(make_page(page, header, version), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except (SourceError, OSError) as error:
        sys.exit(f"generate.py: {error}")
