#!/usr/bin/env python3
"""Links between pages lead somewhere, and prose is at most 100 columns wide.

Looks at every Markdown file that git knows. Tables, code and lines without a space may be wider;
so may Chinese pages, where a paragraph is one line.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WIDTH = 100
LINK = re.compile(r'\]\(([^)#\s]*)(?:#([^)\s]*))?\)')


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r'^#+ (.*)$', page.read_text(), re.M)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


def broken_links(page):
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for target, anchor in LINK.findall(line):
            if re.match(r'[a-z]+:', target):
                continue
            file = (page.parent / target) if target else page
            if not file.exists():
                yield f'{number}: {target} does not exist'
            elif anchor and file.suffix == '.md' and anchor not in anchors(file):
                yield f'{number}: {target} has no heading #{anchor}'


def wide_lines(page):
    if 'zh-CN' in str(page):
        return
    is_code = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        is_code ^= line.startswith('```')
        if is_code or line.startswith(('|', '    ')) or ' ' not in line.strip():
            continue
        if len(line) > WIDTH:
            yield f'{number}: {len(line)} columns wide'


def main():
    names = subprocess.run(['git', 'ls-files', '*.md'], cwd=ROOT, check=True, capture_output=True,
                           text=True).stdout.split()
    problems = [f'{name}:{problem}' for name in names
                for check in (broken_links, wide_lines) for problem in check(ROOT / name)]
    print('\n'.join(problems), end='\n' if problems else '')
    return 1 if problems else 0


sys.exit(main())
