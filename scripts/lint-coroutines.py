#!/usr/bin/env python3
"""Fails on what g++ 12 miscompiles in a statement that has a co_await: a temporary made by aggregate
initialisation, or a lambda that captures by value, is destroyed twice. Such values need a statement
of their own. Also on a co_await inside a conditional expression, and on a coroutine's reference
parameter, which may dangle when the coroutine resumes, unless it is one of the long-lived services
that every coroutine is given."""
import pathlib
import re
import subprocess
import sys

AGGREGATE = re.compile(r"(?<![\w)\]])\{\s*\.\w|\w\{\s*[^\s}]|\w\(\s*\{\s*\.|[,(]\s*\{[^{}]*[^{}\s][^{}]*\}")
LAMBDA = re.compile(r"\[(?!\s*\]|\s*&\s*\])[^\[\]]*[^&\[\]\s][^\[\]]*\]\s*(\(|\{|mutable)")
BY_REFERENCE_ONLY = re.compile(r"\[\s*(&|this|&\w+)(\s*,\s*(this|&\w+))*\s*\]")
CONDITIONAL = re.compile(r"\?[^;]*\bco_await\b|\bif\s*\(\s*co_await|\bwhile\s*\(\s*co_await")
COROUTINE = re.compile(
    r"\bTask<(?:[^<>;{}()]|<(?:[^<>]|<[^<>]*>)*>)*>\s+(?:\w+::)*(\w+)\(((?:[^()]|\([^()]*\))*)\)")
REFERENCE = re.compile(r"([\w:]+)\s*&(?!&)")
# What lives longer than every coroutine that is given a reference to it.
LONG_LIVED = {"Api", "Client", "CloudProgram", "Compute", "EmbeddedCluster", "Leadership",
              "Loop", "PodTransitions", "Program", "RealLoop", "Services", "SimulatedCloud",
              "Sources", "Stage", "TaskGroup", "Transport"}
# In one go: a URL's slashes are no comment, and a comment's quotes begin no string.
STRING_OR_COMMENT = re.compile(r'"(\\.|[^"\\\n])*"|//[^\n]*')


def blank(match: re.Match) -> str:
    text = match.group()
    return " " * len(text) if text.startswith("//") else '"' + " " * (len(text) - 2) + '"'


def statement_at(text: str, at: int) -> tuple[int, str]:
    """The statement around `at`: brackets are balanced, so a lambda's body stays inside."""
    begin = max(text.rfind(mark, 0, at) for mark in ";{}") + 1
    depth = 0
    end = at
    while end < len(text):
        char = text[end]
        if char in "({[":
            depth += 1
        elif char in ")}]":
            depth -= 1
            if depth < 0:
                break
        elif char == ";" and depth == 0:
            break
        end += 1
    return begin, text[begin:end]


def problems_of(path: str) -> list[str]:
    source = pathlib.Path(path).read_text(encoding="utf-8")
    if "Task<" not in source:
        return []
    text = STRING_OR_COMMENT.sub(blank, source)
    found = []
    # A test runs its coroutines to their end before what it lends them goes.
    for match in COROUTINE.finditer("" if path.startswith("test/") else text):
        for reference in REFERENCE.finditer(match.group(2)):
            if reference.group(1).split("::")[-1] not in LONG_LIVED:
                where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
                found.append(f"{where}: {match.group(1)}() takes a {reference.group(1)} by reference;"
                             " a coroutine owns what it is given")
    for match in re.finditer(r"(?<!operator )\bco_await\b", text):
        begin, statement = statement_at(text, match.start())
        where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        lambdas = [m for m in LAMBDA.finditer(statement)
                   if not BY_REFERENCE_ONLY.match(m.group())]
        if lambdas:
            found.append(f"{where}: a lambda that captures by value in a co_await statement")
        elif AGGREGATE.search(statement):
            found.append(f"{where}: a braced temporary in a co_await statement")
        if CONDITIONAL.search(statement):
            found.append(f"{where}: co_await inside a conditional expression")
    return found


def main() -> int:
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", "*.cpp", "*.hpp"],
        capture_output=True, text=True, check=True).stdout.split()
    found = [problem for path in listing if pathlib.Path(path).exists()
             for problem in problems_of(path)]
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
