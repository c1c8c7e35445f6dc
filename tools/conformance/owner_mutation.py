"""tools/mutation --owners: from the copy of the tree to the page. Its text is the tool's --help."""

import json
import random
from collections import Counter
from pathlib import Path

import owner_mutants
import owner_page
import owner_run
import requirements
from owner_mutants import Mistake

PAGE = Path("docs", "conformance", "owner_mutation.md")
EQUIVALENTS = Path("docs", "conformance", "owner_equivalents.txt")
UNFINISHED = "of some tests"  # no state of a source: the next run that counts asks for every change


def _read(root: Path, name: Path) -> str:
    return (root / name).read_text(encoding="utf-8") if (root / name).is_file() else ""


def _prepare(options, say) -> tuple:
    """The copy, built; and what can be changed in it."""
    import owner_build  # with libclang, which the check does without

    folder = options.root / "build-mutation" / "owners"
    tree = folder / "tree"
    every = owner_mutants.owners(options.root)
    if not options.no_build:
        owner_build.copy(options.root, tree, every)
    files = (options.owners or every) if options.no_build else every  # what is built must be whole
    unknown = sorted(set(options.owners) - set(every))
    if unknown:
        raise Mistake(f"no owner: {', '.join(unknown)}; see OWNERS in owner_mutants.py")
    plan = owner_build.plan(options.root, every, files, tree, options.jobs)
    say(f"{len(plan.changes)} changes of {len(files)} files")
    programs = options.programs.split(",") if options.programs else owner_run.PROGRAMS
    if not options.no_build:
        owner_build.build(tree, programs, options.jobs, say)
    runner = owner_run.Runner(tree / "build", programs, len(every) * owner_build.STRIDE + 1, options.jobs, say,
                              options.tests)
    return plan, every, runner


def run(options, say) -> list:
    plan, every, runner = _prepare(options, say)
    wanted = options.owners or every
    cases = [case for case in runner.cases() if case.seconds <= options.slowest]
    equivalents = owner_mutants.parse_equivalents(_read(options.root, EQUIVALENTS))
    old = _read(options.root, PAGE)
    results = {file: one for file, one in owner_page.parse(old).items() if file in every}
    complaints = []
    for file in wanted:
        changes = [c for c in plan.changes if c.mutant.file == file]
        if options.sample and len(changes) > options.sample:
            changes = random.Random(file).sample(changes, options.sample)
        reaching = {c.number: [case for case in cases if c.number in case.reached] for c in changes}
        state = owner_mutants.digest((options.root / file).read_text(encoding="utf-8"))
        kept = runner.folder.parent.parent / "verdicts" / (file.replace("/", "_") + ".txt")
        known = (_killed_before(kept, state) or _killed_on_page(changes, results, equivalents, state) if options.again
                 else _not_on_page(kept, changes, results, equivalents) if options.tests else {})
        runner.kills.clear()
        verdicts = list(runner.pool.map(
            lambda c: known.get(c.mutant.key()) or runner.judge(c.number, reaching[c.number]), changes))
        pairs = [(c.mutant, verdict) for c, verdict in zip(changes, verdicts)]
        _keep(kept, UNFINISHED if options.tests else state, pairs)
        results[file] = one = owner_page.result(file, pairs, equivalents, state, _tests(runner.programs, options))
        say(f"{file}: {one.mutants} mutants, {one.killed} killed, {one.equivalent} equivalent, {one.survives} survive, "
            f"{one.unreached} not reached")
        complaints += [f"survives: {m.key()}" for m, v in pairs
                       if v.outcome in (owner_run.SURVIVES, owner_run.UNREACHED) and m.key() not in equivalents]
        killed = {m.key() for m, v in pairs if v.outcome not in (owner_run.SURVIVES, owner_run.UNREACHED)}
        complaints += [f"in owner_equivalents.txt, but a test notices it: {key}" for key in equivalents if key in killed]
        there = {c.mutant.key() for c in plan.changes if c.mutant.file == file}
        complaints += [f"in owner_equivalents.txt, but there is no such change: {key}" for key in equivalents
                       if key.startswith(f"{file} ") and key not in there]
        if not options.no_page and not options.sample and not options.tests:
            _write_page(options, results, every, plan, owner_page.cited_part(old))
    runner.stop()
    return complaints


def _tests(programs: list, options) -> str:
    shorter = f", those of at most {options.slowest:g} s" if options.slowest < float("inf") else ""
    return ", ".join(programs) + shorter


def _keep(kept: Path, state: str, pairs: list) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{verdict.outcome}\t{verdict.test}\t{mutant.key()}" for mutant, verdict in pairs]
    kept.write_text("\n".join([state, *lines]) + "\n")


def _killed_before(kept: Path, state: str) -> dict:
    """Key -> Verdict of a run that changed the same source. Tests may have been added since, not weakened."""
    lines = kept.read_text().splitlines() if kept.is_file() else [""]
    if lines[0] != state:
        return {}
    verdicts = {key: owner_run.Verdict(outcome, test) for outcome, test, key in (line.split("\t") for line in lines[1:])}
    return {key: one for key, one in verdicts.items() if one.outcome not in (owner_run.SURVIVES, owner_run.UNREACHED)}


def _not_on_page(kept: Path, changes: list, results: dict, equivalents: dict) -> dict:
    """For --tests: what the last run killed, of whatever source; without one, what the page does not name as a survivor."""
    if kept.is_file():
        return _killed_before(kept, kept.read_text().split("\n", 1)[0])
    return _killed_on_page(changes, results, equivalents)


def _killed_on_page(changes: list, results: dict, equivalents: dict, state: str = "") -> dict:
    """Of mutants of one file those that the page counts as killed; none if it speaks of another source than `state`."""
    mutants = [c.mutant for c in changes]
    page = results.get(mutants[0].file) if mutants else None
    if page is None or state not in ("", page.digest):
        return {}
    alive = set(page.lines)
    outcomes = (owner_run.SURVIVES, owner_run.UNREACHED)
    return {m.key(): owner_run.Verdict("failed", "as the page says") for m in mutants
            if m.key() not in equivalents and not alive & {owner_page.survivor_line(m, outcome) for outcome in outcomes}}


def _write_page(options, results: dict, every: list, plan, cited: str) -> None:
    whole = len(plan.left_out) == len(every)
    left_out = owner_page.rules(sum(plan.left_out.values(), Counter())) if whole else owner_page.old_rules(_read(options.root, PAGE))
    (options.root / PAGE).write_text(owner_page.page(results, every, left_out, cited), encoding="utf-8")


# --- do the tests that the list of requirements cites fail without its code? -----------------------------------------


def cited(options, say) -> list:
    plan, every, runner = _prepare(options, say)
    cases = {}
    for case in runner.cases():
        cases.setdefault(_plain(case.name), []).append(case)
    numbers = {}
    for whole in plan.bodies:
        numbers.setdefault((whole.body.file, whole.body.function), []).append(whole.number)
    entries = requirements.read(options.root / "docs" / "conformance" / "requirements.txt")[1]
    asked = []
    for entry in entries:
        tests = [case for name in entry.tests for case in cases.get(name, [])]
        for file, symbol in entry.code:
            if (file, symbol) in numbers and tests:
                asked.append((entry.name, file, symbol, tests))
    chosen = random.Random(0).sample(asked, options.sample) if options.sample else asked

    def notice(one) -> bool:
        _, file, symbol, tests = one
        return any(runner.judge(number, [t for t in tests if number in t.reached] or []).outcome
                   not in (owner_run.SURVIVES, owner_run.UNREACHED) for number in numbers[file, symbol])

    found = list(zip(chosen, runner.pool.map(notice, chosen)))
    runner.stop()
    silent = [one for one, seen in found if not seen]
    if not options.no_page:
        results = {file: one for file, one in owner_page.parse(_read(options.root, PAGE)).items() if file in every}
        _write_page(options, results, every, plan, _cited_part(len(asked), found, silent))
    say(f"{len(found)} functions cited, {len(silent)} without a cited test that fails")
    return [f"{name}: no cited test fails without {file} {symbol}" for name, file, symbol, _ in silent]


def _plain(name: str) -> str:
    """The name in the source: without the instances and parameters of "Level/Suite.case/0" and "Suite/1.case"."""
    suite, case = name.split(".", 1)
    parts = [part for part in suite.split("/") if not part.isdigit()]
    return f"{parts[-1]}.{case.split('/')[0]}"


def _cited_part(possible: int, found: list, silent: list) -> str:
    lines = [owner_page.CITED, "",
             "`requirements.txt` names with each requirement the functions that hold it and tests that fail without them. Each",
             f"such function of an owner is left out as a whole, and the cited tests run: {len(found)} of {possible} pairs of "
             "requirement and",
             f"function tried, in {len(found) - len(silent)} a cited test fails.", ""]
    if silent:
        lines += ["| requirement | function left out | cited tests, none of which fails |", "|---|---|---|"]
        for name, file, symbol, tests in silent:
            names = ", ".join(f"`{test}`" for test in dict.fromkeys(_plain(t.name) for t in tests))
            lines.append(f"| {name} | `{file}` `{symbol}` | {names} |")
    return "\n".join(lines).rstrip()


# --- the check ------------------------------------------------------------------------------------------------------


def check(root: Path, say) -> list:
    """Seconds, and without libclang: what is stale in the list and on the page."""
    complaints, sources = [], {}
    for file in owner_mutants.owners(root):
        sources[file] = (root / file).read_text(encoding="utf-8")
    for key in owner_mutants.parse_equivalents(_read(root, EQUIVALENTS)):
        file = key.split(" ", 1)[0]
        why = owner_mutants.stale(key, sources[file]) if file in sources else "no such owner"
        if why:
            complaints.append(f"owner_equivalents.txt: {why}: {key}")
    page = owner_page.parse(_read(root, PAGE))
    complaints += [f"owner_mutation.md: no owner any more: {file}" for file in page if file not in sources]
    text = _read(root, PAGE)
    complaints += [f"owner_mutation.md does not name {file}: run tools/mutation --owners" for file in sources
                   if f"`{file}`" not in text]
    changed = [file for file in page if file in sources and page[file].digest != owner_mutants.digest(sources[file])]
    if changed:
        say(f"changed since its mutants ran: {', '.join(changed)}")
    return complaints
