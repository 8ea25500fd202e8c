"""Makes `tfrewrite/analysis/effects.json`: what each public TensorFlow symbol does to state.

    python tools/generate_effects.py --tf1 TF1_PYTHON --tf2 TF2_PYTHON [--work DIR] [--jobs N]

Starts `effects_probe` in both interpreters (again after the symbol that crashed one), merges what
it measured, and writes the table; the same TensorFlows give the same bytes. Raw measurements stay
in `--work`, and `--reuse` takes up what is there: an interrupted run, or a merge to do again.
What could not be probed, and where TensorFlow's source reaches an effect that was not measured, is
printed (`--report FILE` keeps it).
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TABLE = HERE.parent / "tfrewrite" / "analysis" / "effects.json"
SCHEMA = 1
STUCK = 240
"""Seconds without a line from the probe after which it is ended and restarted."""

Record = dict[str, Any]

# What these make depends on what they are of, which one sample does not show.
DERIVING = frozenset({"gradients", "hessians"})
WORST = {"none": 0, "constant": 1, "value": 2}


# ---- running the probe -----------------------------------------------------------------------


def environment(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL")}
    return kept | {
        "HOME": str(home),
        "PYTHONPATH": str(HERE),
        "TMPDIR": str(home),
        "PYTHONHASHSEED": "0",
        "CUDA_VISIBLE_DEVICES": "",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def call(python: str, *arguments: str, home: Path) -> None:
    subprocess.run(
        [python, "-m", "effects_probe", *arguments],
        cwd=home,
        env=environment(home),
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def read_lines(path: Path) -> tuple[dict[str, Record], str | None]:
    """The records that are complete, and the symbol that was begun and not finished."""
    done: dict[str, Record] = {}
    begun: str | None = None
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if "begin" in record:
                begun = record["begin"]
            else:
                done[record.pop("symbol")] = record
                begun = None
    return done, begun


def probe(python: str, api: str, symbols: list[str], out: Path) -> dict[str, Record]:
    """Probes every symbol, starting again behind each one that takes the interpreter down."""
    with tempfile.TemporaryDirectory(prefix="effects-") as name:
        home = Path(name)
        while True:
            done, begun = read_lines(out)
            if begun is not None and begun not in done:
                with out.open("a") as stream:
                    stream.write("\n" + json.dumps({"symbol": begun, "error": "crashed"}) + "\n")
                done, _ = read_lines(out)
            left = [s for s in symbols if s not in done]
            if not left:
                return done
            todo = home / "todo.json"
            todo.write_text(json.dumps(left))
            child = subprocess.Popen(
                [python, "-m", "effects_probe", "probe", api, str(todo), str(out)],
                cwd=home,
                env=environment(home),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            size, since = -1, time.monotonic()
            while child.poll() is None:
                time.sleep(0.5)
                now = out.stat().st_size if out.exists() else 0
                if now != size:
                    size, since = now, time.monotonic()
                elif time.monotonic() - since > STUCK:
                    child.kill()
            if child.returncode == 0 and not read_lines(out)[0].keys() >= set(left):
                raise SystemExit(f"{python} ended without probing {api}: run it by hand")


# ---- merging ---------------------------------------------------------------------------------


def family(version: str) -> str:
    return ".".join(version.split(".")[:3])


def effect_of(symbol: str, record: Record) -> Record:
    """What the table says of one probed symbol."""
    flags = set(record["flags"])
    out: Record = {}
    if flags:
        out["flags"] = sorted(flags)
    if record.get("op") and record["op"] != "=":
        out["op"] = record["op"]
    if record.get("alias"):
        out["alias"] = True
    bases = set()
    for tokens in record.get("bases", ()):
        bases |= {k.replace("self.", "") if not k.startswith("*") else "0" for k in tokens}
    parameters = record.get("parameters", [])
    kinds = dict(record.get("gradient", {}))
    completes = list(record.get("completes", ()))
    if symbol.endswith(".__call__") and parameters and "0" in kinds:
        # Keras 3 layers take *args and hand them to their own `call`.
        kinds[parameters[0]] = kinds.pop("0")
        completes = [parameters[0] if name == "0" else name for name in completes]
        bases.add(parameters[0])
    gradient = {
        name: kind for name, kind in kinds.items() if name in bases or name == "*" or kind != "none"
    }
    derives = symbol.rpartition(".")[2] in DERIVING
    if "calls" in flags or derives:
        gradient = {}
    if derives:
        out.pop("op", None)
    if gradient:
        out["gradient"] = dict(sorted(gradient.items()))
    completes = sorted(n for n in completes if gradient.get(n) == "value")
    if completes:
        out["completes"] = completes
    if parameters:
        out["parameters"] = parameters
    if record.get("callables"):
        out["callables"] = sorted(record["callables"])
    return out


def common_start(a: list[str], b: list[str]) -> list[str]:
    """The positions that mean the same in both: a later version adds parameters at the end."""
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    return a[:same]


def weaker(a: Record, b: Record) -> Record:
    """What holds in both: flags of either, gradients no better than in each."""
    out: Record = {}
    flags = set(a.get("flags", ())) | set(b.get("flags", ()))
    if not all("not-tensor" in r.get("flags", ()) for r in (a, b)):
        flags.discard("not-tensor")
    if flags:
        out["flags"] = sorted(flags)
    if a.get("op") == b.get("op") and "op" in a:
        out["op"] = a["op"]
    if a.get("alias") or b.get("alias"):
        out["alias"] = True
    left, right = a.get("gradient", {}), b.get("gradient", {})
    gradient = {
        n: min(left[n], right[n], key=lambda k: WORST[k])
        for n in sorted(left.keys() & right.keys())
    }
    if gradient:
        out["gradient"] = gradient
    completes = sorted(
        set(a.get("completes", ()))
        & set(b.get("completes", ()))
        & {n for n, k in gradient.items() if k == "value"}
    )
    if completes:
        out["completes"] = completes
    callables = sorted(set(a.get("callables", ())) | set(b.get("callables", ())))
    if callables:
        out["callables"] = callables
    parameters = common_start(a.get("parameters", []), b.get("parameters", []))
    if parameters:
        out["parameters"] = parameters
    return out


def alias_by_op(records: Iterable[Record]) -> set[str]:
    """Op types whose kernel was seen to pass on the very buffer that it was given."""
    return {op for record in records for op in record.get("kernels", ())}


def table_of(
    listing: Record,
    records: Mapping[str, Record],
    passing: set[str],
    measured: Mapping[str, Record],
) -> dict[str, Record]:
    """{dotted path: effect} of one API, aliases of the same object included."""
    table: dict[str, Record] = {}
    for path, kind in listing["symbols"].items():
        if kind == "value":
            table[path] = {"flags": ["not-tensor"]}
        elif path in records and "error" not in records[path]:
            table[path] = effect_of(path, records[path])
            known = measured.get(path, {})
            if known.get("op") == records[path].get("op") and "alias" in known:
                passes = known["alias"]
            else:
                passes = table[path].get("op") in passing
            if passes:
                table[path]["alias"] = True
    for path in listing["unsafe"]:
        # Never called: they start servers, delete files, switch modes. Taken for the worst.
        table[path] = {"flags": ["host", "not-tensor"]}
    for alias, first in listing["same"].items():
        for path in [k for k in table if k == first or k.startswith(first + ".")]:
            if path == first or listing["symbols"].get(path) == "method":
                table.setdefault(alias + path[len(first) :], table[path])
    return table


def combine(
    tf1: dict[str, Record], compat: dict[str, Record], tf2: dict[str, Record]
) -> dict[str, Record]:
    """One table: a plain key holds for v1, and for v2 unless `v` says `1`; `v2:` is v2 alone."""
    out: dict[str, Record] = {}
    for path in tf1.keys() | compat.keys():
        if path in tf1 and path in compat:
            out[path] = weaker(tf1[path], compat[path])
        else:
            out[path] = dict(tf1[path] if path in tf1 else compat[path])
    for path, effect in list(out.items()):
        if path not in tf2:
            out[path] = effect | {"v": "1"}
        elif tf2[path] != effect:
            out[path] = effect | {"v": "1"}
            out["v2:" + path] = tf2[path]
    for path in tf2.keys() - out.keys():
        if "v2:" + path not in out:
            out["v2:" + path] = tf2[path]
    return dict(sorted(out.items()))


def render(versions: Mapping[str, str], symbols: Mapping[str, Record]) -> str:
    """The file's text: one effect a line with all that have it, so that diffs can be read."""
    groups: dict[str, list[str]] = defaultdict(list)
    for path, effect in sorted(symbols.items()):
        groups[json.dumps(effect, sort_keys=True, separators=(",", ":"))].append(path)
    lines = [
        f'{{"effect":{effect},"symbols":{json.dumps(paths, separators=(",", ":"))}}}'
        for effect, paths in sorted(groups.items(), key=lambda group: group[1])
    ]
    head = {"schema": SCHEMA, "tensorflow": dict(sorted(versions.items()))}
    return json.dumps(head)[:-1] + ',"effects":[\n' + ",\n".join(lines) + "\n]}\n"


# ---- the static check ------------------------------------------------------------------------


def snake(name: str) -> str:
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


class Source:
    """TensorFlow's own Python, function by function: which generated ops does each one reach?"""

    def __init__(self, roots: list[Path], ops: Mapping[str, list[str]]) -> None:
        self.roots = roots
        self.sinks = {snake(op).replace("_", ""): set(flags) for op, flags in ops.items()}
        self.modules: dict[str, tuple[dict[str, str], dict[str, ast.AST]] | None] = {}

    def module(self, name: str) -> tuple[dict[str, str], dict[str, ast.AST]] | None:
        if name not in self.modules:
            self.modules[name] = self._parse(name)
        return self.modules[name]

    def _parse(self, name: str) -> tuple[dict[str, str], dict[str, ast.AST]] | None:
        for root in self.roots:
            base = root.joinpath(*name.split("."))
            if name.startswith("tensorflow.") and (root / "tensorflow_core").is_dir():
                base = root.joinpath("tensorflow_core", *name.split(".")[1:])  # as 1.15 installs it
            for path in (base.with_suffix(".py"), base / "__init__.py"):
                if path.exists():
                    try:
                        tree = ast.parse(path.read_text(encoding="utf-8"))
                    except SyntaxError:
                        return None
                    return self._imports(tree), self._functions(tree)
        return None

    @staticmethod
    def _imports(tree: ast.Module) -> dict[str, str]:
        names = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    names[alias.asname or alias.name.split(".")[0]] = alias.name
        return names

    @staticmethod
    def _functions(tree: ast.Module) -> dict[str, ast.AST]:
        found: dict[str, ast.AST] = {}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                found[node.name] = node
            elif isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef):
                        found[f"{node.name}.{inner.name}"] = inner
        return found

    def reach(self, module: str, name: str, depth: int, seen: set[tuple[str, str]]) -> set[str]:
        if depth < 0 or (module, name) in seen:
            return set()
        seen.add((module, name))
        last = module.rsplit(".", 1)[-1]
        if last.startswith("gen_"):
            return set(self.sinks.get(name.replace("_", ""), ()))
        parsed = self.module(module)
        if parsed is None or name not in parsed[1]:
            return set()
        imports, functions = parsed
        flags: set[str] = set()
        # The body alone: a default argument (an initializer, as a rule) is evaluated elsewhere.
        body = getattr(functions[name], "body", [])
        for node in (inner for statement in body for inner in ast.walk(statement)):
            if not isinstance(node, ast.Call):
                continue
            function = node.func
            if isinstance(function, ast.Name):
                if function.id in functions:
                    flags |= self.reach(module, function.id, depth - 1, seen)
                elif function.id in imports:
                    where, _, what = imports[function.id].rpartition(".")
                    flags |= self.reach(where, what, depth - 1, seen)
            elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
                if function.value.id in imports:
                    flags |= self.reach(imports[function.value.id], function.attr, depth - 1, seen)
                elif function.value.id == "self" and "." in name:
                    flags |= self.reach(
                        module, f"{name.split('.', maxsplit=1)[0]}.{function.attr}", depth - 1, seen
                    )
        return flags


WATCHED = ("random", "writes", "host", "assert")


def disagreements(
    source: Source, records: Mapping[str, Record], depth: int = 4
) -> dict[str, list[str]]:
    """Effects that the source reaches within a few calls, and that no attempt showed."""
    out = {}
    for path, record in sorted(records.items()):
        if "error" in record or not record.get("defined"):
            continue
        module, _, name = record["defined"].partition(":")
        if not name or "<" in name:
            continue
        flags = set(record["flags"])
        # What makes an object (an initializer, an iterator) does not run what the object can do.
        watched = {"host"} if "not-tensor" in flags else set(WATCHED)
        missing = source.reach(module, name, depth, set()) & watched - flags
        if missing:
            out[path] = sorted(missing)
    return out


# ---- the whole -------------------------------------------------------------------------------


def site_packages(python: str) -> Path:
    code = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    return Path(subprocess.check_output([python, "-c", code], text=True).strip())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tf1", required=True, help="a Python with TensorFlow 1.15")
    parser.add_argument("--tf2", required=True, help="a Python with TensorFlow 2")
    parser.add_argument("--work", type=Path, default=Path("build/effects"))
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument("--jobs", type=int, default=1, help="interpreters at a time")
    parser.add_argument(
        "--reuse", action="store_true", help="take up the raw measurements in --work"
    )
    parser.add_argument("--partial", action="store_true", help="merge what is there, probe nothing")
    parser.add_argument("--report", type=Path)
    options = parser.parse_args(argv)
    work: Path = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    apis = {"tf1": (options.tf1, "1"), "compat": (options.tf2, "1"), "tf2": (options.tf2, "2")}

    def measure(label: str) -> tuple[Record, dict[str, Record], dict[str, list[str]]]:
        python, api = apis[label]
        listing, ops, raw = (work / f"{label}-{n}" for n in ("list.json", "ops.json", "raw.jsonl"))
        if not options.reuse and not options.partial:
            for path in (listing, ops, raw):
                path.unlink(missing_ok=True)
        if not listing.exists():
            call(python, "list", api, str(listing), home=work)
        if not ops.exists():
            call(python, "ops", api, str(ops), home=work)
        listed = json.loads(listing.read_text())
        symbols = sorted(s for s, kind in listed["symbols"].items() if kind != "value")
        records = read_lines(raw)[0] if options.partial else probe(python, api, symbols, raw)
        return (
            listed,
            {s: r for s, r in records.items() if s in listed["symbols"]},
            json.loads(ops.read_text()),
        )

    with ThreadPoolExecutor(options.jobs) as pool:
        measured = dict(zip(apis, pool.map(measure, apis), strict=True))
    static = {}
    for label, (_, records, ops) in measured.items():
        static[label] = disagreements(Source([site_packages(apis[label][0])], ops), records)
        for path, flags in static[label].items():
            # An argument that was not tried may get there: believe the source.
            records[path]["flags"] = sorted({*records[path]["flags"], *flags})
    passing = alias_by_op(measured["tf1"][1].values())
    tables = {
        label: table_of(listing, records, passing, measured["tf1"][1])
        for label, (listing, records, _) in measured.items()
    }
    symbols = combine(tables["tf1"], tables["compat"], tables["tf2"])
    versions = {"1": measured["tf1"][0]["tensorflow"], "2": measured["tf2"][0]["tensorflow"]}
    text = render(versions, symbols)
    options.out.write_text(text)

    lines = [
        f"{options.out}: {len(symbols)} entries, {len(text) // 1024} KiB",
        f"buffer passed on by: {' '.join(sorted(passing))}",
    ]
    for label, (listing, records, _) in measured.items():
        lines += ["", f"## {label} ({listing['tensorflow']})", *coverage(listing, records)]
        found = static[label]
        lines.append(f"taken from the source, not measured: {len(found)}")
        lines += [f"  {path}: {', '.join(flags)}" for path, flags in found.items()]
        lines.append("not probed:")
        lines += [
            f"  {path}: {record['error'][:150]}"
            for path, record in sorted(records.items())
            if "error" in record
        ]
    report = "\n".join(lines) + "\n"
    if options.report:
        options.report.write_text(report)
    print("\n".join(line for line in lines if not line.startswith("  ")))
    return 0


def coverage(listing: Record, records: Mapping[str, Record]) -> list[str]:
    total: Counter[str] = Counter()
    done: Counter[str] = Counter()
    for path, kind in listing["symbols"].items():
        if kind == "value":
            continue
        module = path.split(".")[0] if "." in path else "(top)"
        if module in {"contrib", "keras"}:
            module = ".".join(path.split(".")[:2])
        total[module] += 1
        done[module] += path in records and "error" not in records[path]
    lines = [f"{module} {done[module]}/{total[module]}" for module in sorted(total)]
    return [f"probed {sum(done.values())} of {sum(total.values())}", ", ".join(lines)]


if __name__ == "__main__":
    sys.exit(main())
