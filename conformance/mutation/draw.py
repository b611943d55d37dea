"""Draws one-line changes of C and Python source: the changes that somebody makes by mistake, found in the text by pattern.

Comparisons and logic are flipped, constants moved by one, conditions negated or fixed, statements dropped, functions left early,
neighbouring arguments swapped, words in quotes emptied; rows of tables, cases of switches and last entries of lists left out, loops
made a round shorter, the two sides of a choice exchanged, a constant put for the next one of its enumeration. Some changes do not
compile; whoever tries them leaves those out.
"""

from __future__ import annotations

import io
import random
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_Patterns = tuple[tuple[str, tuple[str, ...]], ...]
_BOTH: _Patterns = ((r"==", ("!=",)), (r"!=", ("==",)), (r"<=", ("<", ">")), (r">=", (">", "<")), (r"(?<= )<(?= )", ("<=", ">")),
         (r"(?<= )>(?= )", (">=", "<")), (r"(?<= )\+(?= )", ("-",)), (r"(?<= )-(?= )", ("+",)), (r"(?<= )\*(?= )", ("/",)),
         (r"(?<= )//?(?= )", ("*",)), (r"(?<= )%(?= )", ("*",)), (r"(?<= )<<(?= )", (">>",)), (r"(?<= )>>(?= )", ("<<",)),
         (r"(?<= )&(?= )", ("|",)), (r"(?<= )\|(?= (?!None\b))", ("&",)), (r"\+=", ("-=",)), (r"\|=", ("&=",)), (r"&=", ("|=",)),
         (r"\bbreak\b", ("continue",)), (r"\bcontinue\b", ("break",)))
_C: _Patterns = ((r"&&", ("||",)), (r"\|\|", ("&&",)), (r"\+\+", ("--",)), (r"(?<=[( ])!(?=[\w(*])", ("",)))
_PYTHON: _Patterns = ((r"\band\b", ("or",)), (r"\bor\b", ("and",)), (r"\bis None\b", ("is not None",)), (r"\bis not None\b", ("is None",)),
           (r"\bnot in\b", ("in",)), (r"\bnot (?!in\b)", ("",)), (r"\bTrue\b", ("False",)), (r"\bFalse\b", ("True",)),
           (r"\bany\(", ("all(",)), (r"\ball\(", ("any(",)), (r"\bmin\(", ("max(",)), (r"\bmax\(", ("min(",)))
_NUMBER = re.compile(r"(?<![\w.])(\d{1,6})(?=[uUlL]{0,3}\b)(?![\w.]*\.)")
_PYTHON_IN = re.compile(r"(?<!not )\bin\b")
_CALL = re.compile(r"\b\w+\(")
_COMMUTE = ("min(", "max(", "PDL_IMPL_IS(")  # their arguments have no order
_C_STATEMENT = re.compile(r"\s+(?=\S)(?!return\b|typedef\b|else\b|case\b|default\b)[^{}]*[\w)\]+-];\s*")
_C_DECLARATION = re.compile(r"\s+(?:static |const |unsigned |struct |enum |u?int\w*_t |size_t |int |char |double )+[\w*, \[\]]*;\s*")
_PYTHON_STATEMENT = re.compile(r"\s+(?=\S)(?!return\b|import\b|from\b|raise\b|pass\b|else\b|try\b)"
                               r"(?:[\w.\[\]\"', ]+(?:[+|&-]?= .*|\(.*\))|yield .*|continue|break)")
_C_ROW = re.compile(r"\s+(?:\[\w+\] = |\{).*,\s*|\s+\{.*\}\s*|\s+(?:case \w+: ?)+.*;(?: break;)?\s*|\s+\w+\(.*\)\s*\\\\\s*")
_C_BEGINS = re.compile(r"\s+"
                       r"(?!(?:return|if|for|while|else|do|switch|case|default|static|const|struct|enum|unsigned|int)\b)"
                       r"\w[\w.>\[\] -]*(?:= |\().*")
_PYTHON_ROW = re.compile(r"\s+[\"'({\[].*,\s*")
_KNOWN = {  # of cuda.h and the runtime: those between which a case has to tell
    "cudaErrorInvalidValue": "cudaErrorUnknown", "cudaErrorNotReady": "cudaSuccess",
    "cudaGraphKernelNodePortProgrammatic": "cudaGraphKernelNodePortLaunchCompletion",
    "cudaGraphKernelNodePortLaunchCompletion": "cudaGraphKernelNodePortProgrammatic",
    "cudaStreamCaptureModeRelaxed": "cudaStreamCaptureModeGlobal", "cudaStreamCaptureModeGlobal": "cudaStreamCaptureModeRelaxed",
}
_NOTHING = ("0", "NULL", "PDL_ZERO", "cudaSuccess", "")  # what a list that is shorter ends with anyway
_FIRST = (tokenize.NEWLINE, tokenize.INDENT, tokenize.NL)  # a text behind one of these is a docstring


@dataclass(frozen=True)
class Change:
    """One line of one file, made different."""

    file: str
    line: int
    old: str
    new: str

    def words(self) -> str:
        """Where it is and what becomes of it."""
        return f"{self.file}:{self.line}: {self.old.strip()}  ->  {self.new.strip()}"

    def applied(self, text: str) -> str:
        """The whole file with this change."""
        lines = text.splitlines(keepends=True)
        assert lines[self.line - 1].rstrip("\n") == self.old, self.words()
        lines[self.line - 1] = self.new + "\n"
        return "".join(lines)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _bare_c(text: str) -> str:
    """The text with comments blanked and what stands in quotes replaced by a filler of the same length."""
    def bare(match: re.Match[str]) -> str:
        token = match[0]
        return token[0] + "@" * (len(token) - 2) + token[0] if token[0] in "\"'" else _blank(token)

    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", bare, text, flags=re.DOTALL)


def _bare_python(text: str) -> str:
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    bare, previous, depth = list(text), tokenize.NEWLINE, 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begin, end = starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and previous in _FIRST and not depth):
            bare[begin:end] = _blank(text[begin:end])
        elif token.type == tokenize.STRING:
            bare[begin + 1:end - 1] = re.sub(r"[^\n]", "@", text[begin + 1:end - 1])
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        if token.type != tokenize.COMMENT:
            previous = token.type
    return "".join(bare)


def _closing(bare: str, opening: int) -> int | None:
    """The index of the bracket that closes the one at `opening`, on the same line."""
    depth = 0
    for index in range(opening, len(bare)):
        depth += (bare[index] in "([{") - (bare[index] in ")]}")
        if depth == 0:
            return index
    return None


def _arguments(bare: str, opening: int, end: int) -> list[tuple[int, int]]:
    """Where each argument of a call begins and ends."""
    found, depth, begin = [], 0, opening + 1
    for index in range(opening + 1, end):
        depth += (bare[index] in "([{") - (bare[index] in ")]}")
        if bare[index] == "," and depth == 0:
            found.append((begin, index))
            begin = index + 1
    return [*found, (begin, end)]


def _swaps(line: str, bare: str) -> Iterator[str]:
    """The line with two neighbouring arguments of a call exchanged."""
    for call in _CALL.finditer(bare):
        if call[0] in _COMMUTE:
            continue
        end = _closing(bare, call.end() - 1)
        places = _arguments(bare, call.end() - 1, end) if end is not None else []
        for index in range(len(places) - 1):
            (a, b), (c, d) = places[index], places[index + 1]
            one, two = line[a:b].strip(), line[c:d].strip()
            if one != two and not any(re.match(r"\w+=(?!=)", text) for text in (one, two)):  # named arguments have no order
                yield f"{line[:a]}{two if a == call.end() else ' ' + two}, {one}{line[d:]}"


def _conditions(line: str, bare: str, python: bool) -> Iterator[str]:
    """The line with its condition negated, or fixed."""
    if python:
        if match := re.match(r"\s*(?:el)?if (.*):\s*$", bare):
            a, b = match.span(1)
            yield f"{line[:a]}not ({line[a:b]}){line[b:]}"
            for fixed in ("True", "False"):
                yield f"{line[:a]}{fixed}{line[b:]}"
        return
    for match in re.finditer(r"\b(?:if|while) \(", bare):
        end = _closing(bare, match.end() - 1)
        if end is None:
            continue
        yield f"{line[:match.end()]}!({line[match.end():end]}){line[end:]}"
        for fixed in ("0", "1") if match[0].startswith("if") else ("0",):
            yield f"{line[:match.end()]}{fixed}{line[end:]}"


def _returns(line: str, bare: str, python: bool) -> Iterator[str]:
    """The line with another result, or with a return in front of it."""
    if match := re.match(r"(\s+)return (.+?);?\s*$", bare):
        a, b = match.span(2)
        for result in ("None", "[]", "True", "False") if python else ("0", "1"):
            if line[a:b] != result:
                yield f"{line[:a]}{result}{line[b:]}"
        if not python:
            yield f"{line[:a]}!({line[a:b]}){line[b:]}"
    elif not python and _C_STATEMENT.fullmatch(bare) and not _C_DECLARATION.fullmatch(bare):
        indent = re.match(r"\s*", line)[0]  # type: ignore[index]
        yield f"{indent}return 0; {line.strip()}"
        yield f"{indent}return 1; {line.strip()}"


def _drops(line: str, bare: str, python: bool) -> Iterator[str]:
    """The line without its statement."""
    indent = re.match(r"\s*", line)[0]  # type: ignore[index]
    if python:
        if _PYTHON_STATEMENT.fullmatch(bare.rstrip()) and _balanced(bare):
            yield f"{indent}pass"
    elif _C_STATEMENT.fullmatch(bare) and not _C_DECLARATION.fullmatch(bare) and _balanced(bare):
        yield f"{indent};"


def _left_out(line: str, bare: str, behind: str, python: bool) -> Iterator[str]:
    """The line without its row of a table, its case, its break, the last entry of one of its lists; `behind`: what stands before it."""
    indent = re.match(r"\s*", line)[0]  # type: ignore[index]
    if _balanced(bare) and (_PYTHON_ROW if python else _C_ROW).fullmatch(bare):
        yield f"{indent}" if python else f"{indent}/* left out */"
    for opening in re.finditer(r"[{(\[]" if python else r"\{", bare):
        end = _closing(bare, opening.start())
        places = _arguments(bare, opening.start(), end) if end is not None else []
        is_list = len(places) > 1 and (opening[0] == "{" or bare[:opening.start()].endswith((" ", "(", "[")))
        if is_list and line[slice(*places[-1])].strip() not in _NOTHING:
            yield line[:places[-2][1]] + ("," if opening[0] == "(" and len(places) == 2 else "") + line[places[-1][1]:]
    if python:
        return
    if match := re.fullmatch(r"(\s+case \w+: .*;) break;\s*", bare):
        yield line[:match.end(1)]
    if match := re.match(r"\s+else (?!if\b)(.+;)\s*$", bare):
        yield line[:match.start(1)] + ";"
    if _C_BEGINS.fullmatch(bare) and not _balanced(bare) and behind.rstrip().endswith((";", "{", "}", ")")):
        yield f"{indent}if (0) {line.strip()}"


def _rounds(line: str, bare: str) -> Iterator[str]:
    """The line with a loop that ends a round sooner."""
    if match := re.match(r"\s+for \(.*?; (\w+) < ", bare):
        yield f"{line[:match.end(1)]} + 1{line[match.end(1):]}"


def _choices(line: str, bare: str) -> Iterator[str]:
    """The line with the two results of a choice exchanged."""
    for match in re.finditer(r" \? ", bare):
        depth, middle, end = 0, None, len(bare.rstrip())
        for index in range(match.end(), end):
            depth += (bare[index] in "([{") - (bare[index] in ")]}")
            if depth < 0 or (depth == 0 and bare[index] in ",;"):
                end = index
                break
            if depth == 0 and middle is None and bare.startswith(" : ", index):
                middle = index
        if middle is not None and " ? " not in bare[match.end():end]:
            yield f"{line[:match.end()]}{line[middle + 3:end]} : {line[match.end():middle]}{line[end:]}"


def _neighbours(bare: str) -> dict[str, str]:
    """For each constant of the enumerations in this text the next one."""
    found = dict[str, str]()
    for match in re.finditer(r"\benum\b[^;{()]*\{([^}]*)\}", bare):
        names = re.findall(r"(?:^|,)\s*([A-Z]\w+)", match[1])
        found |= dict(zip(names, [*names[1:], *names[-2:-1]], strict=True)) if len(names) > 1 else {}
    return found


def _constants(line: str, bare: str, neighbours: dict[str, str]) -> Iterator[str]:
    """The line with another constant of the same enumeration."""
    for match in re.finditer(r"\b[A-Za-z]\w+\b", bare):
        if put := neighbours.get(match[0]):
            yield line[:match.start()] + put + line[match.end():]


def _balanced(bare: str) -> bool:
    return all(bare.count(a) == bare.count(b) for a, b in (("(", ")"), ("[", "]"), ("{", "}")))


def _patterns(line: str, bare: str, python: bool) -> Iterator[str]:
    for pattern, replacements in (*_BOTH, *(_PYTHON if python else _C)):
        for match in re.finditer(pattern, bare):
            for put in replacements:
                yield line[:match.start()] + put + line[match.end():]
    if python and not re.match(r"\s*(?:async )?for ", bare) and " for " not in bare:
        for match in _PYTHON_IN.finditer(bare):
            yield line[:match.start()] + "not in" + line[match.end():]
    for match in _NUMBER.finditer(bare):
        value = int(match[1])
        for number in (value + 1, value - 1) if value else (1,):
            yield line[:match.start()] + str(number) + line[match.start() + len(match[1]):]
    for match in re.finditer(r"\b0x([0-9A-Fa-f]+)", bare):
        yield line[:match.start()] + hex(int(match[1], 16) ^ 1) + line[match.end():]
    for match in re.finditer(r"[\"']@+[\"']", bare):
        if re.fullmatch(r"[\w.:-]+", line[match.start() + 1:match.end() - 1]):  # a word, not a message
            yield line[:match.start() + 1] + line[match.end() - 1:]


def changes_of(file: str, text: str, directives: bool = False) -> list[Change]:
    """Every change that is tried on this file, in its order. directives: those of the C preprocessor, too."""
    python = file.endswith(".py")
    whole = _bare_python(text) if python else _bare_c(text)
    bares, neighbours, behind = whole.splitlines(), {} if python else _KNOWN | _neighbours(whole), ""
    found = list[Change]()
    for number, (line, bare) in enumerate(zip(text.splitlines(), bares, strict=True), 1):
        directive = bare.startswith("#") and not python
        if not bare.strip() or (directive and not directives) or re.match(r"\s*(?:import |from |@|class |def |#\s*include)", bare):
            continue
        ways = [_patterns(line, bare, python)]
        if line.startswith(" "):
            ways += [_conditions(line, bare, python), _returns(line, bare, python), _drops(line, bare, python), _swaps(line, bare),
                     _left_out(line, bare, behind, python)]
            if not python:
                ways += [_rounds(line, bare), _choices(line, bare), _constants(line, bare, neighbours)]
        behind = bare
        new = dict.fromkeys(made for way in ways for made in way if made != line)
        found += [Change(file, number, line, made) for made in new]
    return found


def choose(changes: Sequence[Change], count: int, seed: int) -> list[Change]:
    """A sample, in the order of the files; the same seed gives the same one."""
    kept = set(random.Random(seed).sample(range(len(changes)), min(count, len(changes))))
    return [change for index, change in enumerate(changes) if index in kept]
