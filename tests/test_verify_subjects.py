"""Which pairs of versions come of the paths that a user names, and what is promised of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tfrewrite.discovery import Filter
from tfrewrite.model import DEFAULT_CONTRACTS, Contract
from tfrewrite.policy import Policy
from tfrewrite.verify import subjects
from tfrewrite.verify.experiment import Pair
from tfrewrite.verify.process import copy_tree
from tfrewrite.verify.subjects import Found, Rules, SubjectError
from tfrewrite.verify.trees import Modules, Scripts
from toys import TOYS

TRAIN = "import tensorflow as tf\nfor step in range(9):\n    old(1)\n"


def make(folder: Path, **files: str) -> Path:
    """Files by their names without the ending; a double underscore makes a folder."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def rules(
    *allowed: Contract, exclude: tuple[str, ...] = (), include: tuple[str, ...] = ()
) -> Rules:
    policy = Policy(TOYS, DEFAULT_CONTRACTS | frozenset(allowed))
    return Rules(lambda path: policy, Filter(str(Path.cwd()), exclude, include))  # noqa: ARG005


def tree(folder: Path, *scripts: str, contract: Contract | None = None) -> Found:
    return subjects.rewritten_tree(folder, scripts, rules(), contract)


def names(found: Found) -> list[str]:
    return [pair.subject.script for pair in found.pairs]


def new(pair: Pair) -> dict[str, str]:
    return {name: data.decode() for name, data in pair.rewritten.replacements}


# Two files.


def test_two_files_differ_in_one_place_only(tmp_path: Path) -> None:
    make(tmp_path, train=TRAIN, faster=TRAIN.replace("old", "new"), model="x = 1\n")
    (pair,) = subjects.given(tmp_path / "train.py", tmp_path / "faster.py", None).pairs
    assert pair.subject.script == "train.py"
    assert pair.original.tree == pair.rewritten.tree == tmp_path
    assert pair.original.script == pair.rewritten.script == "train.py"
    assert pair.original.replacements == ()
    assert new(pair) == {"train.py": TRAIN.replace("old", "new")}
    assert pair.promise.contract is pair.subject.contract is Contract.ROUNDING
    assert pair.subject.changes == ()
    assert pair.subject.diff == (
        "--- original/train.py\n+++ rewritten/train.py\n@@ -1,3 +1,3 @@\n"
        " import tensorflow as tf\n for step in range(9):\n-    old(1)\n+    new(1)\n"
    )


def test_a_contract_that_is_asked_for_holds(tmp_path: Path) -> None:
    make(tmp_path, a="a = 1\n", b="a = 2\n")
    (pair,) = subjects.given(tmp_path / "a.py", tmp_path / "b.py", Contract.EXACT).pairs
    assert pair.promise.contract is pair.subject.contract is Contract.EXACT
    (pair,) = subjects.rewritten_file(
        make(tmp_path, c=TRAIN) / "c.py", rules(), Contract.RESAMPLED
    ).pairs
    assert pair.promise.contract is Contract.RESAMPLED


def test_two_files_that_are_the_same(tmp_path: Path) -> None:
    make(tmp_path, a="a = 1\n", b="a = 1\n")
    with pytest.raises(SubjectError, match=r"a\.py and .*b\.py are the same"):
        subjects.given(tmp_path / "a.py", tmp_path / "b.py", None)


def test_a_script_behind_a_link_runs_where_it_is(tmp_path: Path) -> None:
    make(tmp_path, real__train=TRAIN, real__model="x = 1\n", new=TRAIN + "new(2)\n")
    link = tmp_path / "links" / "start.py"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "real" / "train.py")
    (pair,) = subjects.given(link, tmp_path / "new.py", None).pairs
    assert (pair.original.tree, pair.original.script) == (tmp_path / "real", "train.py")
    assert pair.subject.script == "start.py"
    (pair,) = subjects.rewritten_file(link, rules(), None).pairs
    assert (pair.original.tree, pair.original.script) == (tmp_path / "real", "train.py")
    assert pair.subject.script == "start.py"
    assert pair.subject.original == str(link)


# What is no script.


def test_what_cannot_be_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "broken.py").symlink_to(tmp_path / "gone.py")
    os.mkfifo(tmp_path / "pipe.py")
    for name, said in (
        ("broken.py", "a link that leads nowhere"),
        ("none.py", "no such file or directory; check the spelling"),
        ("pipe.py", "neither a file nor a directory"),
    ):
        with pytest.raises(SubjectError, match=f"{name}: {said}"):
            subjects.require_runnable(tmp_path / name)
    with pytest.raises(SubjectError, match="cannot take one from -"):
        subjects.require_runnable(Path("-"))
    subjects.require_runnable(tmp_path)


def test_a_file_that_cannot_be_read_as_text(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x = '\xff'\n")
    make(tmp_path, b="x = 1\n")
    with pytest.raises(SubjectError, match=r"a\.py: "):
        subjects.given(tmp_path / "a.py", tmp_path / "b.py", None)
    with pytest.raises(SubjectError, match=r"a\.py: "):
        subjects.rewritten_file(tmp_path / "a.py", rules(), None)


def test_a_file_in_the_syntax_of_python_2(tmp_path: Path) -> None:
    make(tmp_path, a="print 'old'\n")
    with pytest.raises(SubjectError, match=r"a\.py: .*line 1"):
        subjects.rewritten_file(tmp_path / "a.py", rules(), None)


def test_a_folder_that_is_too_large_to_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, a=TRAIN, b="x = 1\n", c="x = 1\n")
    monkeypatch.setattr(subjects, "MOST_FILES", 2)
    with pytest.raises(SubjectError, match=r"holds more than is copied for each run .*3 files"):
        subjects.rewritten_file(tmp_path / "a.py", rules(), None)


def test_environments_beside_the_script_are_not_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make(tmp_path / "tree", a=TRAIN, venv__lib__one="", venv__two="", node_modules__x="")
    (tree / "venv" / "pyvenv.cfg").touch()
    monkeypatch.setattr(subjects, "MOST_FILES", 1)
    assert subjects.rewritten_file(tree / "a.py", rules(), None).pairs
    copy_tree(tree, tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy").iterdir()] == ["a.py"]


# One file.


def test_a_file_and_what_the_rules_make_of_it(tmp_path: Path) -> None:
    make(tmp_path, train=TRAIN)
    found = subjects.rewritten_file(tmp_path / "train.py", rules(), None)
    (pair,) = found.pairs
    assert new(pair) == {"train.py": TRAIN.replace("old", "new")}
    assert pair.promise.contract is Contract.EXACT
    (change,) = pair.subject.changes
    assert (change.rule, change.name, change.line) == ("TFR901", "rename-old", 3)
    assert (change.message, change.contract) == ("old -> new", Contract.EXACT)
    assert "+    new(1)\n" in pair.subject.diff
    assert (tmp_path / "train.py").read_text() == TRAIN


def test_the_weakest_contract_of_the_rewrites_made_is_promised(tmp_path: Path) -> None:
    make(tmp_path, a="old(1)\na = one(1)\nb = one(2)\nold(shift)\n")
    (pair,) = subjects.rewritten_file(tmp_path / "a.py", rules(), None).pairs
    assert pair.promise.contract is Contract.ROUNDING
    assert [one.contract for one in pair.subject.changes] == [Contract.EXACT, Contract.ROUNDING]
    assert "old(shift)" in new(pair)["a.py"]
    (pair,) = subjects.rewritten_file(tmp_path / "a.py", rules(Contract.SHIFTED), None).pairs
    assert pair.promise.contract is Contract.SHIFTED
    assert pair.promise.others == {Contract.EXACT, Contract.ROUNDING, Contract.SHIFTED}
    assert not pair.promise.weights_are_exact
    assert pair.subject.changes[-1].changes == "`shift` is read one step late"


def test_nothing_to_verify(tmp_path: Path) -> None:
    make(tmp_path, a="x = 1\n", b=TRAIN)
    assert subjects.rewritten_file(tmp_path / "a.py", rules(), None) == Found(
        unchanged=(str(tmp_path / "a.py"),)
    )
    found = subjects.rewritten_file(tmp_path / "b.py", rules(exclude=("b.py",)), None)
    assert found.pairs == ()
    assert "excluded by the settings" in found.notes[0]


def test_the_bytes_of_a_file_are_kept(tmp_path: Path) -> None:
    source = b"\xef\xbb\xbf# \xc3\xa9\r\nold(1)\r\n"
    (tmp_path / "a.py").write_bytes(source)
    (pair,) = subjects.rewritten_file(tmp_path / "a.py", rules(), None).pairs
    assert dict(pair.rewritten.replacements)["a.py"] == source.replace(b"old", b"new")


# One directory.


def test_the_scripts_of_a_directory(tmp_path: Path) -> None:
    make(
        tmp_path,
        train=TRAIN,
        plain="import tensorflow\nfor step in range(3):\n    print(step)\n",
        setup=TRAIN,
        conftest=TRAIN,
        tests__test_train=TRAIN,
        test_other=TRAIN,
        numbers=TRAIN.replace("tensorflow", "numpy"),
    )
    found = tree(tmp_path)
    assert names(found) == ["train.py"]
    assert found.unchanged == (str(tmp_path / "plain.py"),)
    assert [line.split()[0] for line in found.notes] == [
        "conftest.py", "numbers.py", "setup.py", "test_other.py", "tests/test_train.py",
    ]  # fmt: skip
    assert "no script was found that imports it: it is not verified" in found.notes[0]


def test_a_module_is_verified_by_the_scripts_that_import_it(tmp_path: Path) -> None:
    loop = "import tensorflow as tf\ndef fit():\n    while old(1):\n        pass\n"
    guard = "if __name__ == '__main__':\n    fit()\n"
    make(
        tmp_path,
        pkg____init__="",
        pkg__loop=loop + guard,
        pkg__model="old(2)\n",
        pkg__unused="old(3)\n",
        one="from pkg.loop import fit\nfit()\n",
        two="import pkg.model\nimport tensorflow\nfor x in y:\n    pass\n",
        three="import tensorflow\nfor x in y:\n    old(4)\n",
    )
    found = tree(tmp_path)
    assert {pair.subject.script: sorted(new(pair)) for pair in found.pairs} == {
        "one.py": ["pkg/loop.py"],
        "two.py": ["pkg/model.py"],
        "three.py": ["three.py"],
        "pkg/loop.py": ["pkg/loop.py"],
    }
    (one,) = [pair for pair in found.pairs if pair.subject.script == "one.py"]
    assert one.subject.changes[0].message == "pkg/loop.py: old -> new"
    assert "+++ rewritten/pkg/loop.py" in one.subject.diff
    assert [line.split()[0] for line in found.notes] == ["pkg/unused.py"]


def test_scripts_that_are_listed_are_taken_whatever_they_are(tmp_path: Path) -> None:
    make(
        tmp_path,
        setup="old(1)\n",
        other=TRAIN,
        loaded="old(2)\n",
        hidden="import importlib\nimportlib.import_module('load' + 'ed')\n",
        ignored__run="old(3)\n",
    )
    (tmp_path / ".gitignore").write_text("ignored/\n")
    found = tree(tmp_path, "setup.py", "hidden.py", "ignored/run.py")
    assert {pair.subject.script: sorted(new(pair)) for pair in found.pairs} == {
        "setup.py": ["loaded.py", "other.py", "setup.py"],
        "hidden.py": ["loaded.py", "other.py"],
        "ignored/run.py": ["ignored/run.py", "loaded.py", "other.py"],
    }
    assert found.notes == ()


def test_a_directory_without_scripts(tmp_path: Path) -> None:
    make(tmp_path, a="x = 1\n")
    with pytest.raises(SubjectError, match=r"name the scripts in \[tool.tfrewrite.verify\]"):
        tree(tmp_path)


def test_files_that_are_left_out_or_cannot_be_read(tmp_path: Path) -> None:
    make(tmp_path, train=TRAIN, two="print 'old'\n", out="import tensorflow\nold(1)\nmain.run()\n")
    found = subjects.rewritten_tree(tmp_path, [], rules(exclude=("out.py",)), None)
    assert names(found) == ["train.py"]
    assert found.unchanged == (str(tmp_path / "out.py"),)
    assert "two.py: left as it is: " in found.notes[0]


def test_spaces_and_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path / "my scripts", train=TRAIN)
    (folder / "train.py").rename(folder / "train it.py")
    assert names(tree(folder)) == ["train it.py"]
    monkeypatch.chdir(folder)
    (pair,) = subjects.rewritten_file(Path("train it.py"), rules(), None).pairs
    assert (pair.original.tree, pair.original.script) == (folder, "train it.py")
    assert names(tree(Path())) == ["train it.py"]


def test_links_in_a_directory(tmp_path: Path) -> None:
    make(tmp_path / "outside", other=TRAIN)
    folder = make(tmp_path / "tree", run="import model\nmodel.fit()\n", model=TRAIN)
    (folder / "alias.py").symlink_to("model.py")
    (folder / "other.py").symlink_to(tmp_path / "outside" / "other.py")
    found = tree(folder)
    assert {pair.subject.script: list(new(pair)) for pair in found.pairs} == {
        "run.py": ["model.py"]
    }
    (tmp_path / "link").symlink_to(folder)
    (pair,) = tree(tmp_path / "link").pairs
    assert (pair.original.tree, pair.subject.original) == (folder, str(tmp_path / "link/run.py"))


# Two directories.


def test_two_directories(tmp_path: Path) -> None:
    ours = make(
        tmp_path / "ours", train="import model\nmodel.fit()\n", model=TRAIN, other=TRAIN, gone="1\n"
    )
    theirs = make(
        tmp_path / "theirs",
        train="import model\nmodel.fit()\n",
        model=TRAIN.replace("old", "new"),
        other=TRAIN,
        added="2\n",
    )
    found = subjects.given_trees(ours, theirs, [], None)
    (pair,) = found.pairs
    assert (pair.original.tree, pair.rewritten.tree) == (ours, theirs)
    assert pair.original.script == pair.rewritten.script == "train.py"
    assert list(new(pair)) == ["model.py"]
    assert pair.promise.contract is Contract.ROUNDING
    assert "-    old(1)\n+    new(1)\n" in pair.subject.diff
    assert found.unchanged == (str(ours / "other.py"),)
    assert [line.split()[0] for line in found.notes] == ["added.py", "gone.py"]


def test_two_directories_that_hold_the_same(tmp_path: Path) -> None:
    ours, theirs = (make(tmp_path / name, train=TRAIN) for name in "ab")
    with pytest.raises(SubjectError, match=r"Python files of .* are the same"):
        subjects.given_trees(ours, theirs, [], None)


def test_two_directories_without_scripts(tmp_path: Path) -> None:
    ours, theirs = make(tmp_path / "a", x="1\n"), make(tmp_path / "b", x="2\n")
    with pytest.raises(SubjectError, match="no script was found"):
        subjects.given_trees(ours, theirs, [], None)


def test_a_script_that_only_one_directory_has(tmp_path: Path) -> None:
    ours, theirs = make(tmp_path / "a", x=TRAIN), make(tmp_path / "b", y=TRAIN)
    with pytest.raises(SubjectError, match=r"b: there is no x\.py, which .*a has"):
        subjects.given_trees(ours, theirs, [], None)


# What a tree holds.


@pytest.mark.parametrize(
    ("text", "is_script"),
    [
        ("if __name__ == '__main__':\n    main()\n", True),
        ("if __name__ in ('__main__', 'x'):\n    main()\n", True),
        ("for x in y:\n    pass\n", True),
        ("with tf.Session() as sess:\n    sess.run(x)\n", True),
        ("def main():\n    pass\nmain()\n", True),
        ("try:\n    model.fit(x)\nexcept ValueError:\n    pass\n", True),
        ("history = model.fit(x)\n", True),
        ("tf.app.run()\n", True),
        ("from trainer import fit\nfit()\n", True),
        ("", False),
        ("print(tf.constant(1))\n", False),
        ("def main():\n    for x in y:\n        model.fit(x)\n", False),
        ("class A:\n    for x in y:\n        pass\n", False),
        ("with open('VERSION') as file:\n    version = file.read()\n", False),
        ("name = __name__\nif name:\n    x = 1\n", False),
        ("f = lambda: model.fit(x)\n", False),
    ],
)
def test_what_is_a_script(text: str, is_script: bool) -> None:  # noqa: FBT001
    sources = {"a.py": f"import tensorflow as tf\n{text}".encode()}
    assert Scripts(sources).runnable() == (["a.py"] if is_script else [])


@pytest.mark.parametrize(
    "line",
    [
        "import tensorflow.keras",
        "from tensorflow_datasets import load",
        "from keras import layers",
        "def f():\n    import tensorflow",
        "import net",
        "from net import *",
        "from pkg import deep",
        "from pkg.deep import x",
    ],
)
def test_tensorflow_may_come_by_a_module_of_the_tree(line: str) -> None:
    sources = {
        "net.py": b"import tensorflow as tf\n",
        "pkg/__init__.py": b"",
        "pkg/deep.py": b"from .deeper import x\n",
        "pkg/deeper.py": b"import tensorflow\n",
        "a.py": f"{line}\nfor x in y: pass\n".encode(),
        "b.py": b"import numpy, pkg  # not tensorflow\nfor x in y: pass\n",
    }
    assert Scripts(sources).runnable() == ["a.py"]


def test_work_at_the_top_of_what_others_import_is_theirs() -> None:
    sources = {
        "model.py": b"import tensorflow\nfor x in y: pass\n",
        "both.py": b"import tensorflow\nif __name__ == '__main__':\n    main()\n",
        "a.py": b"import model, both\nfor x in y: pass\n",
    }
    assert Scripts(sources).runnable() == ["both.py", "a.py"]


def test_imports_are_found_where_python_looks_for_them() -> None:
    modules = Modules.of(
        {
            "run/a.py": b"import near\nimport pkg.mod\nfrom lib import x\nfrom os import path\n",
            "run/near.py": b"from . import far\n",
            "near.py": b"",
            "pkg/__init__.py": b"from .mod import y\n",
            "pkg/mod.py": b"from .. import nothing\nimport far\n",
            "src/lib/__init__.py": b"",
            "run/far.py": b"",
            "bad.py": b"print 'x'\n",
        }
    )
    assert modules.reached("run/a.py") == [
        "run/a.py", "run/near.py", "pkg/__init__.py", "pkg/mod.py", "src/lib/__init__.py",
        "run/far.py",
    ]  # fmt: skip
    assert modules.places("run/a.py") == (".", "src")
    assert modules.places("near.py") == ()
    assert modules.reached("bad.py") == ["bad.py"]


def test_modules_on_disk(tmp_path: Path) -> None:
    make(tmp_path, a="import pkg.b, gone\n", pkg__b="import c\n", c="")
    assert Modules.on_disk(tmp_path).reached("a.py") == ["a.py", "pkg/b.py", "c.py"]
