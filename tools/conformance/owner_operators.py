"""Finds what can be changed in a C++ source: walks the functions that libclang sees, and makes each change a layer of text.

A layer wraps a range of the source so that the change is chosen when the program runs (tests/mutation/owner_mutant.hpp), and
never a compile error: what has no such form is left out and counted by its rule.
"""

import re
import sys
from collections import Counter
from typing import Callable, NamedTuple

from owner_mutants import Mistake, Mutant, normalized, short

sys.path.append("/usr/lib/python3/dist-packages")  # Debian's python3-clang-14, whatever python3 runs this
try:
    from clang import cindex
    from clang.cindex import CursorKind as K
except ImportError as error:
    raise Mistake(f"{error}: tools/setup --test installs python3-clang-14") from error

FUNCTIONS = {K.FUNCTION_DECL, K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR, K.FUNCTION_TEMPLATE, K.CONVERSION_FUNCTION}
WRAPPERS = {K.UNEXPOSED_EXPR, K.PAREN_EXPR}
STATEMENTS = {K.CALL_EXPR, K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR, K.UNARY_OPERATOR, K.UNEXPOSED_EXPR,
              K.RETURN_STMT, K.BREAK_STMT, K.CONTINUE_STMT}
RELATIONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
BOUNDARY = 1  # of the replacements of < and its like, the first moves the boundary by one, the second negates
SMALL_BYTES = 8
DEFAULTS = ("std::optional<", "std::vector<", "std::basic_string", "std::span<", "std::unique_ptr<", "std::shared_ptr<",
            "std::array<", "std::pair<", "std::deque<", "std::map<")


class Layer(NamedTuple):
    start: int
    end: int
    rank: int  # of two layers of one range the lower rank is outside
    wrap: Callable


class Body(NamedTuple):
    file: str
    function: str
    at: int    # behind its opening brace
    out: str   # what ends it at once


class Found(NamedTuple):
    mutants: list
    layers: list      # of each mutant, in the same order
    bodies: list      # functions as a whole
    left_out: Counter


def ternary(alternative: str) -> Callable:
    return lambda number, inner: f"(::owner_mutant::on({number}) ? ({alternative}) : ({inner}))"


def negated(number: int, inner: str) -> str:
    return f"(::owner_mutant::on({number}) != static_cast<bool>({inner}))"


def left_out_of(operator: str) -> Callable:
    if operator == "&&":
        return lambda number, inner: f"(::owner_mutant::on({number}) || static_cast<bool>({inner}))"
    return lambda number, inner: f"(!::owner_mutant::on({number}) && static_cast<bool>({inner}))"


def dropped(number: int, inner: str) -> str:
    return f"{{ if (!::owner_mutant::on({number})) {inner} }}"


class Finder:
    def __init__(self, root, file: str, arguments: list):
        self.file = file
        self.root = str(root)
        self.path = str(root / file)
        data = (root / file).read_bytes()
        self.source = data.decode("latin-1")  # offsets are of bytes
        index = cindex.Index.create()
        options = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        self.unit = index.parse(self.path, args=arguments, options=options)
        wrong = [d for d in self.unit.diagnostics
                 if d.severity >= cindex.Diagnostic.Error and d.location.file and d.location.file.name == self.path]
        if wrong:
            raise Mistake(f"libclang: {wrong[0]}")
        self.macros = [self.extent(c) for c in self.unit.cursor.get_children()
                       if c.kind == K.MACRO_INSTANTIATION and self.here(c)]
        self.found = Found([], [], [], Counter())
        self.seen = Counter()
        self.function = ""
        self.body = None    # of the innermost function or lambda
        self.returns_value = True
        self.path_up = []   # cursors above the present one, within the function

    # --- places -----------------------------------------------------------------------------------------------------

    def here(self, cursor) -> bool:
        return cursor.location.file is not None and cursor.location.file.name == self.path

    def extent(self, cursor) -> tuple:
        return cursor.extent.start.offset, cursor.extent.end.offset

    def range(self, cursor) -> tuple:
        """The extent, mended where clang 14 begins a rewritten comparison at its operator."""
        start, end = self.extent(cursor)
        if re.match(r"[!=<>]=", self.source[start:start + 2]):
            inside = [self.range(child) for child in cursor.get_children()]
            start, end = min([start, *(a for a, _ in inside)]), max([end, *(b for _, b in inside)])
        return start, end

    def text(self, cursor) -> str:
        start, end = self.range(cursor)
        return self.source[start:end]

    def in_macro(self, start: int, end: int) -> bool:
        return any(a < end and start < b for a, b in self.macros if not (start <= a and b <= end and (start, end) != (a, b)))

    # --- what is found ----------------------------------------------------------------------------------------------

    def context(self, start: int, end: int) -> tuple:
        """The largest expression around the range that is still short: it names the place when lines move."""
        best = start, end
        for cursor in reversed(self.path_up):
            if not (cursor.kind.is_expression() or cursor.kind in (K.RETURN_STMT, K.VAR_DECL)):
                break
            a, b = self.range(cursor)
            if a > best[0] or b < best[1] or b - a > 80:
                break
            best = a, b
        return best

    def add(self, way: str, start: int, end: int, after: str, rank: int, wrap: Callable) -> None:
        if self.in_macro(start, end):
            self.found.left_out["in a macro"] += 1
            return
        a, b = self.context(start, end) if way != "statement" else (start, end)
        before, now = short(self.source[a:b]), short(self.source[a:start] + after + self.source[end:b])
        name = (self.function, before, now)
        self.seen[name] += 1
        self.found.mutants.append(Mutant(self.file, self.function, way, before, now, self.seen[name]))
        self.found.layers.append(Layer(start, end, rank, wrap))

    def replace(self, way: str, cursor, after: str) -> None:
        start, end = self.range(cursor)
        self.add(way, start, end, after, 2, ternary(after))

    # --- operators --------------------------------------------------------------------------------------------------

    def sides(self, cursor) -> tuple:
        """Left side, operator, right side of a built-in or overloaded binary operator; or None."""
        children = list(cursor.get_children())
        overloaded = cursor.kind == K.CALL_EXPR and cursor.spelling.startswith("operator") and len(children) == 3
        if not overloaded and not (cursor.kind == K.BINARY_OPERATOR and len(children) == 2):
            return None
        left, right = children[0], children[-1]
        between = normalized(self.source[self.range(left)[1]:self.range(right)[0]])
        return left, between, right

    def relation(self, cursor, parts: tuple, in_logic: bool) -> None:
        left, operator, right = parts
        choices = RELATIONS[operator]
        if cursor.kind == K.CALL_EXPR and len(choices) > 1 and cursor.spelling != "operator<=>":
            choices = choices[BOUNDARY:]  # there may be no other operator of this class
        if in_logic:  # left out as a side of && or ||, it is as good as negated
            choices = choices[:BOUNDARY] if len(choices) > 1 else ()
        for other in choices:
            negate = cursor.kind == K.CALL_EXPR and other == choices[-1]
            a, b = self.range(left)[0], self.range(right)[1]
            after = f"{self.text(left)} {other} {self.text(right)}"
            self.add("relation", a, b, after, 2, negated if negate else ternary(after))

    def logic(self, parts: tuple) -> None:
        left, operator, right = parts
        a, b = self.range(left)[0], self.range(right)[1]
        for gone, stays in ((left, right), (right, left)):
            start, end = self.range(gone)
            if self.in_macro(a, b):
                continue
            before = len(self.found.mutants)
            self.add("logic", a, b, self.text(stays), 1, left_out_of(operator))
            if len(self.found.mutants) > before:
                self.found.layers[-1] = Layer(start, end, 1, left_out_of(operator))

    def leaf(self, cursor):
        while len(children := list(cursor.get_children())) == 1 and (
                cursor.kind in WRAPPERS or self.range(cursor) != self.extent(cursor)):
            cursor = children[0]
        return cursor

    def condition(self, cursor) -> None:
        leaf = self.leaf(cursor)
        parts = self.sides(leaf)
        if parts and (parts[1] in RELATIONS or parts[1] in ("&&", "||")):
            return
        start, end = self.range(cursor)
        self.add("condition", start, end, f"!({self.source[start:end]})", 1, negated)

    def declared_condition(self, variable) -> None:
        start, end = self.range(variable)
        text = self.source[start:end]
        name = variable.spelling
        self.add("condition", start, end, f"{text}; !{name}", 1,
                 lambda number, inner: f"{inner}; ::owner_mutant::on({number}) != static_cast<bool>({name})")

    def if_statement(self, cursor) -> None:
        children = list(cursor.get_children())
        if normalized(self.source[self.extent(cursor)[0]:][:40]).startswith("if constexpr"):
            self.found.left_out["constant condition"] += 1
            return
        with_else = len(children) > 2 and self.after_statement(children[-2]).startswith("else")
        condition = children[-3] if with_else else children[-2]
        variables = [c for c in children if c.kind == K.VAR_DECL]
        variables += [v for c in children if c.kind == K.DECL_STMT for v in c.get_children() if v.kind == K.VAR_DECL]
        holds = [v for v in variables if self.extent(v)[0] <= self.extent(condition)[0] < self.extent(v)[1]]
        if holds:
            self.declared_condition(holds[0])
        else:
            self.condition(condition)

    def loop(self, cursor) -> None:
        head = self.range(cursor)[0]
        opening = self.source.index("(", head)
        parts, depth, at = [opening + 1], 0, opening + 1
        while depth >= 0:
            depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(self.source[at], 0)
            if self.source[at] == ";" and depth == 0:
                parts.append(at + 1)
            at += 1
        a, b = (parts[0], at - 1) if cursor.kind == K.WHILE_STMT else (parts[1], parts[2] - 1)
        declares = any(c.kind in (K.VAR_DECL, K.DECL_STMT) and a <= self.extent(c)[0] < b for c in cursor.get_children())
        for child in [] if declares else cursor.get_children():
            start, end = self.range(child)
            if a <= start and end <= b and child.kind.is_expression():
                self.condition(child)
                return
        if normalized(self.source[a:b]):
            self.found.left_out["a loop's condition declares a variable"] += 1

    def after_statement(self, cursor) -> str:
        return normalized(self.source[self.range(cursor)[1]:][:400]).lstrip("; ")

    def constant(self, cursor) -> None:
        text = self.text(cursor)
        if cursor.kind == K.CXX_BOOL_LITERAL_EXPR:
            self.replace("constant", cursor, "false" if text == "true" else "true")
        elif cursor.kind == K.INTEGER_LITERAL and re.fullmatch(r"(0[xX][\da-fA-F']+|0[bB][01']+|[\d']+)[uUlLzZ]*", text):
            zero = re.fullmatch(r"(0[xX])?0+[uUlLzZ]*", text)
            digits = re.sub(r"[uUlLzZ]+$", "", text)
            suffix = text[len(digits):]
            value = int(digits.replace("'", ""), 0) if not re.fullmatch(r"0\d+", digits) else int(digits, 8)
            for other in (value + 1,) if zero else (value + 1, value - 1):
                self.replace("constant", cursor, f"{other}{suffix}")

    def named(self, cursor) -> None:
        what = cursor.referenced
        text = self.text(cursor)
        if what is None or not re.search(rf"\b{re.escape(cursor.spelling)}$", text):
            return
        if what.kind == K.ENUM_CONSTANT_DECL:
            every = [c for c in what.semantic_parent.get_children() if c.kind == K.ENUM_CONSTANT_DECL]
            at = next(i for i, c in enumerate(every) if c.spelling == what.spelling)
            others = [c for c in every[at + 1:] + every[:at] if c.enum_value != what.enum_value]
            if others:
                self.replace("constant", cursor, text[: -len(what.spelling)] + others[0].spelling)
        elif what.kind == K.VAR_DECL and what.type.is_const_qualified() and self.is_constexpr(what):
            kind = what.type.get_canonical().kind
            if kind == cindex.TypeKind.BOOL:
                self.replace("constant", cursor, f"!{text}")
            elif cindex.TypeKind.CHAR_U.value <= kind.value <= cindex.TypeKind.INT128.value:
                for sign in "+-":
                    start, end = self.range(cursor)
                    value = f"static_cast<std::remove_cvref_t<decltype({text})>>({text} {sign} 1)"
                    self.add("constant", start, end, f"({text} {sign} 1)", 2, ternary(value))

    @staticmethod
    def is_constexpr(variable) -> bool:
        return any(token.spelling == "constexpr" for token, _ in zip(variable.get_tokens(), range(5)))

    def member(self, cursor) -> None:
        what = cursor.referenced
        text = self.text(cursor)
        if what is None or what.kind != K.FIELD_DECL or not text.endswith(what.spelling):
            return
        if not what.location.file or not what.location.file.name.startswith(self.root):
            return  # of a library
        kind = what.type.get_canonical()
        if not 0 < what.type.get_size() <= SMALL_BYTES or kind.spelling.startswith("std::") or "&" in kind.spelling:
            return
        alike = [c for c in what.semantic_parent.get_children()
                 if c.kind == K.FIELD_DECL and c.access_specifier == what.access_specifier
                 and c.type.get_canonical().spelling == kind.spelling]
        at = [i for i, c in enumerate(alike) if c.spelling == what.spelling]
        others = alike[at[0] + 1:] + alike[:at[0]] if at else []  # a template's own member is found in the template alone
        if others:
            self.replace("member", cursor, text[: -len(what.spelling)] + others[0].spelling)

    def arithmetic(self, cursor, parts: tuple) -> None:
        left, operator, right = parts
        whole = (left.type.get_canonical().kind.value, right.type.get_canonical().kind.value)
        low, high = cindex.TypeKind.BOOL.value, cindex.TypeKind.LONGDOUBLE.value
        if cursor.kind == K.BINARY_OPERATOR and all(low <= kind <= high for kind in whole):
            after = f"{self.text(left)} {'-' if operator == '+' else '+'} {self.text(right)}"
            a, b = self.range(left)[0], self.range(right)[1]
            self.add("arithmetic", a, b, after, 2, ternary(after))

    def call(self, cursor) -> None:
        text = self.text(cursor)
        if found := re.match(r"std::(min|max)(?=\W)", text):
            other = "max" if found.group(1) == "min" else "min"
            self.replace("arithmetic", cursor, f"std::{other}{text[len(found.group(0)):]}")
        what = cursor.referenced
        arguments = [a for a in cursor.get_arguments() if a is not None]
        if what is None or cursor.spelling.startswith("operator"):
            return
        if what.kind not in (K.FUNCTION_DECL, K.CXX_METHOD) or not text.endswith(")"):
            if what.kind == K.CONSTRUCTOR and len(arguments) > 1:
                self.found.left_out["arguments of a constructor"] += 1
            return
        if what.type.kind != cindex.TypeKind.FUNCTIONPROTO or what.type.is_function_variadic():
            return
        parameters = [t.get_canonical().spelling for t in what.type.argument_types()]
        if found:  # the smaller, or the larger, is the same in either order
            self.found.left_out["arguments of std::min or std::max"] += 1
            return
        written = [self.range(a) for a in arguments]
        for i in range(len(arguments) - 1):
            j = i + 1
            if j >= len(parameters) or parameters[i] != parameters[j] or "&&" in parameters[i]:
                continue
            (a, b), (c, d) = written[i], written[j]
            if not b <= c or self.source[a:b] == self.source[c:d] or b == a or d == c:
                continue
            start, end = self.range(cursor)
            after = self.source[start:a] + self.source[c:d] + self.source[b:c] + self.source[a:b] + self.source[d:end]
            self.replace("arguments", cursor, after)

    def statement(self, cursor) -> None:
        if cursor.kind not in STATEMENTS:
            return
        start, end = self.range(cursor)
        rest = re.match(r"\s*;", self.source[end:])
        text = self.source[start:end]
        if not rest or text.startswith(("static_cast<void>", "assert")):
            return
        if cursor.kind == K.RETURN_STMT and not self.may_go_on(cursor):
            self.found.left_out["the last return of a function"] += 1
            return
        self.add("statement", start, end + rest.end(), "(nothing)", 0, dropped)

    def may_go_on(self, statement) -> bool:
        """Without the return the function still ends with one, or needs none."""
        if not self.returns_value:
            return True
        last = list(self.body.get_children())[-1]
        return last.kind == K.RETURN_STMT and self.extent(last) != self.extent(statement)

    # --- the walk ---------------------------------------------------------------------------------------------------

    def constant_place(self, cursor) -> bool:
        """A place where the language asks for a constant."""
        parent = self.path_up[-1]
        start = self.extent(cursor)[0]
        if parent.kind in (K.DECL_REF_EXPR, K.MEMBER_REF_EXPR, K.TYPE_REF, K.TEMPLATE_REF):
            return True
        if parent.kind in (K.VAR_DECL, K.CXX_FUNCTIONAL_CAST_EXPR, K.CXX_STATIC_CAST_EXPR):
            before = self.source[self.extent(parent)[0]:start]
            return start < parent.location.offset or before.rstrip().endswith("[") or before.count("<") > before.count(">")
        before = self.source[:start].rstrip()
        return before.endswith("<") and not before.endswith("<<") and self.sides(parent) is None

    def expression(self, cursor) -> None:
        parts = self.sides(cursor)
        if parts:
            above = [c for c in self.path_up if c.kind not in WRAPPERS]
            in_logic = bool(above) and (self.sides(above[-1]) or ("", "", ""))[1] in ("&&", "||")
            if parts[1] in RELATIONS:
                self.relation(cursor, parts, in_logic)
            elif parts[1] in ("&&", "||"):
                self.logic(parts)
            elif parts[1] in ("+", "-"):
                self.arithmetic(cursor, parts)
        if cursor.kind == K.CALL_EXPR:
            self.call(cursor)
        elif cursor.kind == K.CONDITIONAL_OPERATOR:
            self.condition(next(iter(cursor.get_children())))
        elif cursor.kind in (K.INTEGER_LITERAL, K.CXX_BOOL_LITERAL_EXPR):
            if self.constant_place(cursor):
                self.found.left_out["a constant that the language asks for"] += 1
            else:
                self.constant(cursor)
        elif cursor.kind == K.DECL_REF_EXPR and not self.constant_place(cursor):
            self.named(cursor)
        elif cursor.kind == K.MEMBER_REF_EXPR:
            self.member(cursor)

    def visit(self, cursor) -> None:
        kind = cursor.kind
        if kind in (K.STATIC_ASSERT, K.CXX_UNARY_EXPR) or (kind in FUNCTIONS and cursor.is_definition()):
            return
        if kind == K.VAR_DECL and self.is_constexpr(cursor):
            self.found.left_out["a constant that the language asks for"] += 1
            return
        if kind == K.IF_STMT:
            self.if_statement(cursor)
        elif kind in (K.WHILE_STMT, K.FOR_STMT):
            self.loop(cursor)
        elif kind.is_expression():
            self.expression(cursor)
        kept = self.body, self.returns_value
        if kind == K.LAMBDA_EXPR:
            bodies = [c for c in cursor.get_children() if c.kind == K.COMPOUND_STMT]
            self.body, self.returns_value = bodies[-1] if bodies else None, True
        self.path_up.append(cursor)
        self.children(cursor)
        self.path_up.pop()
        self.body, self.returns_value = kept

    def children(self, cursor) -> None:
        every = list(cursor.get_children())
        for at, child in enumerate(every):
            if cursor.kind == K.CASE_STMT and at == 0:
                continue
            if cursor.kind == K.CXX_FOR_RANGE_STMT and child is not every[-1] and not self.inside(cursor, child):
                continue
            if self.is_statement(cursor, child, at, len(every)):
                self.statement(child)
            self.visit(child)

    def inside(self, loop, child) -> bool:
        """Of a range-for: its range expression, not what the compiler makes of it."""
        return child.kind.is_expression() and self.source[:self.extent(child)[0]].rstrip().endswith(":")

    def is_statement(self, parent, child, at: int, count: int) -> bool:
        if parent.kind in (K.COMPOUND_STMT, K.DEFAULT_STMT):
            return True
        if parent.kind == K.CASE_STMT:
            return at == count - 1
        if parent.kind in (K.WHILE_STMT, K.FOR_STMT, K.CXX_FOR_RANGE_STMT):
            return at == count - 1
        if parent.kind == K.IF_STMT:
            end = self.range(child)[1]
            before = normalized(self.source[:self.range(child)[0]][-400:])
            return before.endswith(("else", ")")) and re.match(r"\s*;", self.source[end:]) is not None and at > 0
        return False

    def function_name(self, cursor) -> str:
        parts, above = [cursor.spelling.split("<")[0]], cursor.semantic_parent
        while above is not None and above.kind in (K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE):
            parts.insert(0, above.spelling)
            above = above.semantic_parent
        return "::".join(parts).replace(" ", "_")

    def whole_body(self, cursor, body) -> None:
        start = self.extent(body)[0]
        if cursor.result_type.spelling.startswith(("auto", "decltype")):
            self.found.left_out["body of a function whose result is deduced"] += 1
            return
        self.found.bodies.append(Body(self.file, self.function, start + 1, self.way_out(cursor)))

    def result_type(self, cursor) -> str:
        kind = cursor.result_type.kind
        return "void" if kind == cindex.TypeKind.VOID else "value"

    def way_out(self, cursor) -> str:
        """How a function ends that does nothing: with nothing, with the default of its type, or, where there is none, with all."""
        result = cursor.result_type.get_canonical()
        if cursor.kind in (K.CONSTRUCTOR, K.DESTRUCTOR) or result.kind == cindex.TypeKind.VOID:
            return "return;"
        if result.kind in (cindex.TypeKind.LVALUEREFERENCE, cindex.TypeKind.UNEXPOSED):
            return "std::abort();"
        constructors = [c for c in result.get_declaration().get_children() if c.kind == K.CONSTRUCTOR]
        plain = result.spelling.startswith(DEFAULTS) or result.kind != cindex.TypeKind.RECORD
        if plain or not constructors or any(not list(c.get_arguments()) for c in constructors):
            return "return {};"
        return "std::abort();"

    def enter_function(self, cursor) -> None:
        bodies = [c for c in cursor.get_children() if c.kind == K.COMPOUND_STMT]
        if not bodies or self.source[self.extent(bodies[-1])[0]] != "{" or self.in_macro(*self.extent(cursor)):
            return  # defaulted, or made by a macro
        if re.search(r"\bconsteval\b", self.source[self.extent(cursor)[0]:self.extent(bodies[-1])[0]]):
            self.found.left_out["runs in the compiler"] += 1
            return
        kept = self.function, self.body, self.returns_value, self.path_up
        self.function, self.body = self.function_name(cursor), bodies[-1]
        self.returns_value = self.result_type(cursor) == "value" and cursor.kind not in (K.CONSTRUCTOR, K.DESTRUCTOR)
        self.path_up = [cursor]
        self.whole_body(cursor, bodies[-1])
        for child in cursor.get_children():
            if child.kind.is_expression():  # of a constructor's list
                self.visit(child)
        self.path_up.append(bodies[-1])
        self.children(bodies[-1])
        self.function, self.body, self.returns_value, self.path_up = kept
        for inner in bodies[-1].walk_preorder():
            if inner.kind in FUNCTIONS and inner.is_definition():
                self.enter_function(inner)

    def walk(self, cursor) -> None:
        for child in cursor.get_children():
            if not self.here(child) and child.kind != K.NAMESPACE:
                continue
            if child.kind in FUNCTIONS and child.is_definition():
                self.enter_function(child)
            elif child.kind in (K.NAMESPACE, K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE, K.LINKAGE_SPEC, K.UNEXPOSED_DECL):
                self.walk(child)

    def find(self) -> Found:
        self.walk(self.unit.cursor)
        return self.found
