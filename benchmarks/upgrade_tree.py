"""tf_upgrade_v2 over a whole tree: `PYTHON upgrade_tree.py TREE OUTPUT`.

The command itself ends at the first file that its parser trips over. This does what the command
does, file by file, and goes on. Runs in TensorFlow's interpreter, so it is kept to Python 3.6.
"""

import sys
from pathlib import Path

from tensorflow.tools.compatibility import ast_edits, tf_upgrade_v2


def main() -> int:
    tree, output = (Path(argument) for argument in sys.argv[1:])
    upgrader = ast_edits.ASTCodeUpgrader(tf_upgrade_v2.TFAPIChangeSpec())
    done = failed = 0
    for path in sorted(tree.rglob("*.py")):
        target = output / path.relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            upgrader.process_file(str(path), str(target))
            done += 1
        except Exception:  # noqa: BLE001  its parser raises whatever it happens to meet
            failed += 1
    print(done, "files,", failed, "could not be parsed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
