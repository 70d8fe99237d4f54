#!/usr/bin/env python3
"""Names in anonymous namespaces must be unique among the sources that are compiled together.

Several sources of a module are compiled as one unit (docs/building.md), so two of them may not
both have an own `struct Family` or `is_digit(char)`. This finds such pairs without compiling: a
name is looked at with its namespace; functions may be overloaded by their parameters' types.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:\\\n|[^\n])*', re.M)
KEYWORDS = {'if', 'for', 'while', 'switch', 'return', 'requires', 'noexcept', 'decltype', 'alignas',
            'operator', 'static_assert', 'sizeof', 'explicit', 'auto'}


def blank(match):
    text = match.group(0)
    if text.startswith(('//', '/*')):
        return '\n' * text.count('\n')
    return '""' if text[0] != "'" else "' '"


def parameter_types(text):
    """The types of a parameter list: names and defaults dropped, as well as text can tell."""
    depth, part, parts = 0, '', []
    for c in text:
        depth += c in '<([{'
        depth -= c in '>)]}'
        if c == ',' and depth == 0:
            parts.append(part)
            part = ''
        else:
            part += c
    parts.append(part)
    types = []
    for part in parts:
        part = part.split('=')[0].strip()
        part = re.sub(r'(?<=[\s&*>])[A-Za-z_]\w*$', '', part).strip()
        types.append(re.sub(r'\s+', '', part))
    return ','.join(types)


def declared(chunk):
    """The name that a declaration at namespace scope introduces; a function with its parameters."""
    chunk = re.sub(r'\[\[.*?\]\]', ' ', chunk)
    while True:
        m = re.match(r'\s*template\s*<', chunk)
        if not m:
            break
        depth, i = 1, m.end()
        while i < len(chunk) and depth:
            depth += chunk[i] == '<'
            depth -= chunk[i] == '>'
            i += 1
        chunk = chunk[i:]
    chunk = chunk.strip()
    m = re.match(r'(?:struct|class|union|enum(?:\s+class|\s+struct)?)\s+([A-Za-z_]\w*)\s*(?::|final|$|\{)', chunk)
    if m:
        return m.group(1)
    if re.match(r'(?:struct|class|enum)\s+\w+\s*$', chunk):
        return None
    m = re.match(r'using\s+([A-Za-z_]\w*)\s*=', chunk)
    if m:
        return m.group(1)
    if re.match(r'(using|friend|static_assert|extern|namespace)\b', chunk):
        return None
    for m in re.finditer(r'([A-Za-z_][\w:]*)\s*(\(|=(?!=)|\{|\[|$)', chunk):
        name = m.group(1)
        if name in KEYWORDS:
            if name == 'operator':
                return None
            continue
        if m.group(2) == '(':
            if 'operator' in chunk[:m.start()]:
                return None
            if '::' in name:
                return None
            depth, i = 1, m.end()
            while i < len(chunk) and depth:
                depth += chunk[i] == '('
                depth -= chunk[i] == ')'
                i += 1
            return f'{name}({parameter_types(chunk[m.end():i - 1])})'
        if m.start() > 0 and '::' not in name:
            return name
    return None


def names(path):
    """(namespace, name, line) of everything declared in the file's anonymous namespaces."""
    text = DIRECTIVE.sub(lambda m: '\n' * m.group(0).count('\n'), TOKENS.sub(blank, path.read_text()))
    stack, chunk, line, start = [], '', 1, 1
    for c in text:
        if c == '\n':
            line += 1
        if c == '{':
            m = re.search(r'(?:^|\s)(?:inline\s+)?namespace(?:\s+([\w:]+))?\s*$', chunk)
            if m:
                stack.append(('namespace', m.group(1) or '{anonymous}'))
                chunk = ''
                continue
            if all(kind == 'namespace' for kind, _ in stack):
                stack.append(('body', None))
                chunk += '{'
            else:
                stack.append(('inner', None))
            continue
        if c == '}':
            kind, _ = stack.pop() if stack else ('', '')
            if kind == 'body':
                head = chunk.split('{')[0]
                is_value = re.search(r'=\s*$|\b\w+\s*$', head) and not re.search(
                    r'\)\s*(const|noexcept|override|\s)*(->.*)?$', head) and not re.match(
                    r'\s*(struct|class|union|enum|template)\b', head)
                space = [n for _, n in stack]
                if '{anonymous}' in space:
                    name = declared(head + ('{' if is_value else ''))
                    if name:
                        yield '::'.join(space), name, start
                chunk = '' if not is_value else ' '
            elif kind == 'namespace':
                chunk = ''
            continue
        if stack and stack[-1][0] in ('body', 'inner'):
            continue
        if c == ';':
            space = [n for _, n in stack]
            if '{anonymous}' in space and chunk.strip():
                name = declared(chunk)
                if name:
                    yield '::'.join(space), name, start
            chunk = ''
            continue
        if not chunk.strip() and not c.isspace():
            start = line
            chunk = ''
        chunk += c


def modules():
    groups = collections.defaultdict(list)
    for top in ('src', 'webhooks', 'certs', 'test'):
        for path in sorted((ROOT / top).rglob('*.cpp')):
            folder = path.parent
            while not (folder / 'CMakeLists.txt').exists():
                folder = folder.parent
            groups[folder].append(path)
    return groups


def main():
    bad = 0
    for folder, paths in modules().items():
        if folder.parent.name == 'fuzz' or folder.parent.name == 'bench':
            continue
        if sys.argv[1:] and not any(str(folder).endswith(a) for a in sys.argv[1:]):
            continue
        seen = collections.defaultdict(dict)
        for path in paths:
            if path.name == 'main.cpp':
                continue
            for space, name, line in names(path):
                seen[space, name].setdefault(path, line)
        for (space, name), where in sorted(seen.items()):
            if len(where) > 1:
                bad += 1
                places = ', '.join(f'{p.relative_to(ROOT)}:{n}' for p, n in where.items())
                print(f'{name} in {space}: {places}')
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
