#!/usr/bin/env python3
"""Fails on an include that goes down the list of modules, on a heavy header outside the files meant
for it, and on a source that reads a clock or sleeps outside base."""
import pathlib
import re
import subprocess
import sys

MODULES = ["base", "model", "schema", "scheduling", "disruption", "cluster", "telemetry", "extender",
         "webhooks", "net", "certs", "kube", "cloud", "controllers", "sandbox", "app"]
PURE = {"scheduling", "disruption"}
HEAVY = re.compile(r"#include <(boost/(asio|beast)|spdlog|CLI/|yaml-cpp|curl/|pugixml|cctz/|toml\+\+|regex>)")
CLOCKS = re.compile(r"(system_clock|steady_clock)::now|sleep_for|sleep_until|usleep\(|std::rand\b")
INCLUDE = re.compile(r'#include "(?:millwright/)?([a-z]+)/')
# Where a heavy library may show: (module, header prefix) pairs, sources only.
HEAVY_ALLOWED = {
    "base": ("spdlog", "cctz/"), "model": ("yaml-cpp",), "app": ("CLI/",),
    "net": ("boost/asio", "boost/beast", "curl/"),
    "cloud": ("pugixml", "toml++"),
}


def module_of(path: pathlib.PurePosixPath) -> str | None:
    parts = path.parts
    if parts[0] in ("src", "include"):
        return parts[1] if parts[0] == "src" else parts[2]
    return parts[0] if parts[0] in ("webhooks", "certs") else None


def problems_of(path: str) -> list[str]:
    file = pathlib.PurePosixPath(path)
    module = module_of(file)
    found = []
    if module not in MODULES:
        return [f"{path}: '{module}' is not a module"] if module else []
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        where = f"{path}:{number}"
        if match := INCLUDE.match(line):
            other = match.group(1)
            if other in MODULES and MODULES.index(other) > MODULES.index(module):
                found.append(f"{where}: {module} must not include {other}, which is below it")
            if other in MODULES and other != module and '"millwright/' not in line:
                found.append(f"{where}: {module} reaches into the sources of {other}")
        if match := HEAVY.match(line):
            allowed = HEAVY_ALLOWED.get(module, ())
            if file.suffix != ".cpp" and file.parts[0] == "include" or not any(
                    match.group(1).startswith(prefix) for prefix in allowed):
                found.append(f"{where}: <{match.group(1)}...> does not belong here")
        if module != "base" and CLOCKS.search(line):
            found.append(f"{where}: clocks, sleeps and chance belong to base")
        if module in PURE and re.match(r"#include <(boost/json|thread|mutex|fstream)", line):
            found.append(f"{where}: {module} is pure: no JSON, threads or files")
    return found


def main() -> int:
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", "src", "include", "webhooks",
         "certs"], capture_output=True, text=True, check=True).stdout.split()
    found = [problem for path in listing if path.endswith((".cpp", ".hpp"))
             for problem in problems_of(path)]
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


sys.exit(main())
