"""A notebook is run as a script: cells in order, without Jupyter."""

from __future__ import annotations

import ast
import io
import runpy
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from notebook_maker import STYLES, Style, cell, notebook, written
from tfrewrite.discovery import Filter
from tfrewrite.keeping.finding import find
from tfrewrite.keeping.rewrites import RewrittenFile
from tfrewrite.model import Status
from tfrewrite.notebooks.script import NoScript, script_of
from tfrewrite.policy import Policy
from tfrewrite.verify import subjects
from tfrewrite.verify.notebooks import as_python
from tfrewrite.verify.runs import PROBE, Program
from tfrewrite.verify.subjects import Rules, SubjectError
from tfrewrite.verify.tf_generation import is_tf1_script
from tfrewrite.verify.trees import Modules, python_files
from toys import TOYS

HERE = PROBE / "path"
RULES = Rules(lambda path: Policy(TOYS), Filter("."))  # noqa: ARG005


def ran(folder: Path, *cells: str) -> str:
    """What the cells print, run in a folder."""
    text = script_of(written(notebook(*cells))).text
    (folder / "script.py").write_text(text)
    command = [sys.executable, "script.py"]
    environment = {"PYTHONPATH": str(HERE)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_cells_run_in_order_and_show_their_last_values(tmp_path: Path) -> None:
    assert ran(
        tmp_path,
        "%matplotlib inline\nx = 1",
        "x",
        "x;",
        "None",
        "x, *'ab'",
        "y = (x +\n  1)\n(y + # note\n 1)  # note",
        "for i in range(2):\n    i",
        "print('p'); x",
        "(i for i in []).__class__.__name__",
        "(z := 5)",
    ) == "1\n(1, 'a', 'b')\n3\np\n1\n'generator'\n5\n"  # fmt: skip


def test_a_carriage_return_ends_a_line(tmp_path: Path) -> None:
    assert ran(tmp_path, "x = 1\r\x0c\ny = 2\rx + y\r\n") == "3\n"


def test_what_jupyter_would_give_is_there(tmp_path: Path) -> None:
    assert ran(
        tmp_path,
        "from IPython.display import display as d, clear_output, HTML\nimport IPython",
        "from IPython.core.display import Math, clear_output\nclear_output()",
        "display('a', 2)\nd(HTML('<b>'))\nclear_output(wait=True)",
        "get_ipython().run_line_magic('matplotlib', 'inline')\nIPython.get_ipython()",
    ).startswith("'a'\n2\n<HTML>\n<_tfrewrite_notebook.Shell object")  # fmt: skip


def test_the_shell_has_what_other_modules_ask_it_for(tmp_path: Path) -> None:
    assert ran(
        tmp_path,
        "import IPython, sys\nip = IPython.get_ipython()\nip is get_ipython()",
        "IPython.version_info[:2] < (8, 24)",  # as matplotlib asks, before it registers itself
        "ip.events.register('post_execute', print)\nip.enable_gui('x')",
        "'IPKernelApp' in ip.config, 'colab' in str(ip), list(ip.user_ns), len(ip.config)",
        "ip.getoutput('ls'), bool(ip), ip.kernel.shell",
        "handle = display('a', display_id=True)\nhandle.update('b')\nhandle.display_id",
        "'IPython.core.magics.namespace' in sys.modules",  # as Keras asks, before it raises
        "from IPython.core import pylabtools\nhasattr(pylabtools, 'backend2gui')",
    ) == (
        "True\nFalse\n(False, False, [], 0)\n([], True, <_tfrewrite_notebook.Nothing object>)\n"
        "'a'\n'b'\n'shown'\nTrue\nTrue\n"
    )  # fmt: skip


def test_where_ipython_is_its_shell_is_ours(tmp_path: Path) -> None:
    package = tmp_path / "IPython"
    (package / "core").mkdir(parents=True)
    (package / "core" / "__init__.py").touch()
    for name, text in (
        ("__init__.py", "from IPython.core.getipython import get_ipython\n"),
        ("core/getipython.py", "def get_ipython(): return None\n"),
        ("display.py", "def display(*values, **options): print('theirs')\nHTML = str\n"),
    ):
        (package / name).write_text(text)
    assert ran(
        tmp_path,
        "from IPython import get_ipython\nfrom IPython.display import HTML, display",
        "get_ipython().run_line_magic('matplotlib', 'inline')\ndisplay(HTML('b'))",
        "from IPython.core.getipython import get_ipython as other\nother() is get_ipython()",
    ) == "'b'\nTrue\n"  # fmt: skip
    (package / "display.py").write_text("import no_such\n")
    assert ran(tmp_path, "get_ipython().x()\n3") == "3\n"


def test_bars_that_jupyter_would_draw_are_text(tmp_path: Path) -> None:
    package = tmp_path / "tqdm"
    package.mkdir()
    for name, text in (
        ("__init__", "from tqdm.std import tqdm, trange\n"),
        ("std", "def tqdm(x): return list(x)\ndef trange(n): return list(range(n))\n"),
        ("notebook", "raise ImportError('IProgress not found')\n"),
    ):
        (package / f"{name}.py").write_text(text)
    cells = ("from tqdm.notebook import tqdm, trange", "tqdm('ab'), trange(2)")
    assert ran(tmp_path, *cells) == "(['a', 'b'], [0, 1])\n"
    (tmp_path / "ipywidgets.py").touch()
    assert "IProgress not found" in ran(tmp_path, *cells)


def test_simple_magics_do_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert ran(
        tmp_path,
        "%%time\nx = 3",
        "%time y = x + 1\nif y:\n    %time print(y)",
        "%time y",
        "%%capture\nz = 1",
        "%%writefile sub/m.py\nK = 'it\\'s'\n",
        "%%writefile -a sub/m.py\nL = 2",
        "%env A=b\nimport os\nos.environ['A']",
        "%cd sub\nimport sys; sys.path.append('.')\nimport m\nm.K, m.L, z",
        "  i = 1\n  if i:\n    print('indented')",
        "!mkdir -p logs/a b\n%mkdir b\nmkdir c\nsorted(os.listdir('.')), os.listdir('logs')",
    ) == (
        "4\n4\n'b'\n(\"it's\", 2, 1)\nindented\n"
        "(['__pycache__', 'b', 'c', 'logs', 'm.py'], ['a'])\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ["!mkdir $x", "!mkdir -m 700 a", "!mkdir a; ls", "!mkdir {x}", "!mkdir " + "a" * 99 + "&"],
)
def test_what_a_shell_alone_knows_is_left_out(line: str) -> None:
    assert script_of(written(notebook(line))).left_out == ((1, line),)


def test_the_rest_is_left_out_and_named(tmp_path: Path) -> None:
    cells = (
        "!pip install x\nfiles = !ls\na, b = !ls",
        cell("# words", "markdown"),
        "%%bash\nrm -rf /",
        "%timeit f()\nif files:\n    !rm\nelse:\n    %run x.py",
        "files?\npip install y",
        "len(files)",
    )
    script = script_of(written(notebook(*cells)))
    assert script.note == (
        "runs without what Jupyter alone can do: `!pip install x` (cell 1), "
        "`files = !ls` (cell 1), `a, b = !ls` (cell 1) and 5 more"
    )
    assert [number for number, _ in script.left_out] == [1, 1, 1, 3, 4, 4, 4, 5]
    assert ran(tmp_path, *(one for one in cells if isinstance(one, str))) == "0\n"
    assert not script_of(written(notebook("x = 1", "%matplotlib inline"))).note


def test_future_imports_come_first() -> None:
    text = script_of(
        written(notebook("x = 1", "from __future__ import division  # why\ny = 1"))
    ).text
    assert text.startswith("from __future__ import division\nimport _tfrewrite_notebook")
    compile(text, "x", "exec")
    assert as_python("n.ipynb", text.encode()) == text.encode()


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
def test_lines_are_those_of_the_cells(style: Style) -> None:
    cells = ["%%time\nx = 1\n", "!ls \\\n  -l\ny = 1", "%%bash\na\nb", "z = 1"]
    text = script_of(written(notebook(*cells), style)).text
    lines = text.split("\n")
    begins = next(
        ast.literal_eval(node.value)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)
    )
    assert [number for number, _ in begins] == [1, 2, 3, 4]
    for name, number, own in (("x", 0, 2), ("y", 1, 3), ("z", 3, 1)):
        assert lines[begins[number][1] + own - 2] == f"{name} = 1"


def test_what_cannot_be_run_is_said() -> None:
    for data in (b"{}", written(notebook("print 'a'")), written(notebook("x?", "x = ="))):
        with pytest.raises(NoScript):
            script_of(data)


def test_the_helper_does_no_harm_where_ipython_is(monkeypatch: pytest.MonkeyPatch) -> None:
    helper = runpy.run_path(str(HERE / "_tfrewrite_notebook.py"))
    printed = io.StringIO()
    with redirect_stdout(printed):
        helper["show"](None)
        helper["show"]((1, 2))
        helper["display"](3, extra=4)
    assert printed.getvalue() == "(1, 2)\n3\n"
    with pytest.raises(AttributeError):
        helper["get_ipython"]().__array__  # noqa: B018


# What is verified.


TRAIN = ["import tensorflow as tf\n!pip install x", "for i in range(9):\n    old(i)"]


def make(folder: Path, *cells: str, name: str = "n.ipynb") -> Path:
    path = folder / name
    path.write_bytes(written(notebook(*cells)))
    return path


def test_a_notebook_and_what_the_rules_make_of_it(tmp_path: Path) -> None:
    path = make(tmp_path, *TRAIN)
    found = subjects.rewritten_file(path, RULES, None)
    (pair,) = found.pairs
    for program, code in ((pair.original, "old(i)"), (pair.rewritten, "new(i)")):
        assert program.script == "n.ipynb"
        text = dict(program.files)["n.ipynb"].decode()
        assert code in text
        assert "_tfrewrite_marks" in text
        ast.parse(text)
    assert "original/n.ipynb:cell 2" in pair.subject.diff
    assert "+    new(i)\n" in pair.subject.diff
    (change,) = pair.subject.changes
    assert (change.line, change.message) == (2, "cell 2: old -> new")
    assert found.notes == (
        f"{path}: runs without what Jupyter alone can do: `!pip install x` (cell 1)",
    )
    assert subjects.rewritten_file(make(tmp_path, "x = 1"), RULES, None).unchanged == (str(path),)


def test_two_notebooks_are_held_against_each_other(tmp_path: Path) -> None:
    first, second = make(tmp_path, *TRAIN), make(tmp_path, "x = 1", name="m.ipynb")
    (pair,) = subjects.given(first, second, None).pairs
    assert b"old(" in dict(pair.original.files)["n.ipynb"]
    assert b"x = 1" in dict(pair.rewritten.files)["n.ipynb"]
    make(tmp_path, *TRAIN, name="m.ipynb")
    with pytest.raises(SubjectError, match="are the same"):
        subjects.given(first, second, None)
    (tmp_path / "a.py").write_text("x = 1\n")
    for one, other in ((first, tmp_path / "a.py"), (tmp_path / "a.py", first)):
        with pytest.raises(SubjectError, match="give two scripts or two notebooks"):
            subjects.given(one, other, None)


def test_the_notebooks_of_a_directory_are_scripts_of_it(tmp_path: Path) -> None:
    make(tmp_path, *TRAIN)
    make(tmp_path, "import tensorflow as tf\ndef f(): old(1)", name="lib.ipynb")
    make(tmp_path, "print 'old'", name="two.ipynb")
    (tmp_path / "helper.py").write_text("old(1)\n")
    make(tmp_path, "import tensorflow as tf\nfrom helper import f\nf()", name="user.ipynb")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    make(tmp_path / ".ipynb_checkpoints", *TRAIN)
    assert sorted(python_files(tmp_path)) == [
        "helper.py",
        "lib.ipynb",
        "n.ipynb",
        "two.ipynb",
        "user.ipynb",
    ]
    found = subjects.rewritten_tree(tmp_path, (), RULES, None)
    assert sorted(pair.subject.script for pair in found.pairs) == ["n.ipynb", "user.ipynb"]
    assert any("two.ipynb: left as it is: cell 1, line 1: Python 2" in one for one in found.notes)


def test_two_directories_differ_in_what_is_run(tmp_path: Path) -> None:
    for folder, code, text in (("a", "old(i)", "1"), ("b", "new(i)", "2")):
        (tmp_path / folder).mkdir()
        shown = cell(TRAIN[1].replace("old(i)", code), outputs=[{"text": text}])
        data = written(notebook(TRAIN[0], shown))
        (tmp_path / folder / "n.ipynb").write_bytes(data)
        (tmp_path / folder / "same.ipynb").write_bytes(
            written(notebook(cell("import tensorflow\nf()", outputs=[{"text": text}])))
        )
    found = subjects.given_trees(tmp_path / "a", tmp_path / "b", (), None)
    (pair,) = found.pairs
    assert pair.subject.script == "n.ipynb"
    assert "-    old(i)\n+    new(i)\n" in pair.subject.diff
    assert b"new(" in dict(pair.rewritten.files)["n.ipynb"]
    assert found.unchanged == (str(tmp_path / "a" / "same.ipynb"),)


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES.keys())
def test_some_of_the_rewrites_of_a_notebook_are_kept(style: Style) -> None:
    data = written(notebook(*TRAIN, "for i in x:\n    f(make())"), style)
    file = RewrittenFile("n.ipynb", "n.ipynb", data, Policy(TOYS), named=True)
    first, second = file.full.made
    for place, kept in ((first, ["new(i)", "make()"]), (second, ["old(i)", "made_0"])):
        version = file.with_only([place])
        assert version.made == (place,)
        assert all(one in version.data.decode("utf-8-sig") for one in kept)
    assert file.with_only([]).outcome.status is Status.UNCHANGED


def test_notebooks_are_among_what_is_kept_or_dropped(tmp_path: Path) -> None:
    path = make(tmp_path, *TRAIN)
    (tmp_path / "lib.py").write_text("x = 1\n")
    for place in (tmp_path, path):
        found = find(place, RULES, ())
        assert [one.file for one in found.rewrites.all] == ["n.ipynb"]
        assert [one.name for one in found.scripts] == ["n.ipynb"]
        assert not any(one.error for one in found.others)


def test_which_tensorflow_a_notebook_is_for(tmp_path: Path) -> None:
    make(tmp_path, "import tensorflow as tf", "sess = tf.Session()")
    make(tmp_path, "print 'a'", name="two.ipynb")
    modules = Modules.on_disk(tmp_path)
    assert is_tf1_script(modules.text("n.ipynb"))
    assert modules.text("two.ipynb") == ""
    assert modules.reached("n.ipynb") == ["n.ipynb"]


def test_a_program_of_a_notebook_without_loops_is_a_script_too(tmp_path: Path) -> None:
    make(tmp_path, "x = 1")
    program = Program.of(tmp_path, "n.ipynb")
    assert dict(program.files)["n.ipynb"].startswith(b"import _tfrewrite_notebook")


@pytest.mark.tensorflow
def test_a_notebook_is_run_and_a_failure_names_its_cell(tmp_path: Path, tf2_python: Path) -> None:
    from tfrewrite.verify.runs import Conditions, Laboratory  # noqa: PLC0415

    make(tmp_path, "x = [3]", "def f():\n    return x[1]", "\nf()")
    conditions = Conditions(tf2_python, time_limit_s=120)
    with Laboratory.opened(conditions) as laboratory:
        seen = laboratory.observe(Program.of(tmp_path, "n.ipynb"), seed=1, steps=0)
        assert not seen.is_complete
        assert 'File "n.ipynb, cell 3", line 2, in <module>' in seen.result.stderr
        assert 'File "n.ipynb, cell 2", line 2, in f' in seen.result.stderr
        make(tmp_path, "x = [3]", "x")
        seen = laboratory.observe(Program.of(tmp_path, "n.ipynb"), seed=1, steps=0)
        assert seen.is_complete
        assert seen.printed == "[3]\n"


@pytest.mark.tensorflow
def test_a_notebook_is_run_in_its_own_folder(tmp_path: Path, tf2_python: Path) -> None:
    from tfrewrite.verify.runs import Conditions, Laboratory  # noqa: PLC0415

    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    (folder / "data.csv").write_text("1,2")
    (folder / "helper.py").write_text("def f(): return open('data.csv').read()\n")
    make(
        folder,
        "import helper, inspect, os, sys\nhelper.f(), os.path.basename(os.getcwd()), sys.argv",
        "def g():\n    return 3\ninspect.getsource(g)",
        "with open('out.txt', 'w') as file:\n    file.write('4.5')\ng.x",
    )
    conditions = Conditions(tf2_python, time_limit_s=120)
    with Laboratory.opened(conditions) as laboratory:
        program = Program.of(tmp_path, "deep/er/n.ipynb")
        seen = laboratory.observe(program, seed=1, steps=0)
    assert seen.printed.split("\n")[:2] == [
        "('1,2', 'er', ['n.ipynb'])",
        repr("def g():\n    return 3\n"),
    ], seen.result.stderr
    assert 'File "n.ipynb, cell 3", line 3, in <module>' in seen.result.stderr
    assert seen.summary["executed"] == ["deep/er/helper.py", "deep/er/n.ipynb"]
    assert not (folder / "out.txt").exists()
