"""Code that makes the rest of the analysis worthless."""

from __future__ import annotations

import pytest

from analysis_helpers import with_graph


@pytest.mark.parametrize(
    "text",
    [
        "globals()['loss'] = other",
        "setattr(model, 'loss', other)",
        "exec(code)",
        "n = eval('loss')",
        "model.__dict__.update(loss=other)",
        "manager.__enter__()",
        "stack.enter_context(manager)",
        "sess.run = counted",
        "tf.nn.relu = noisy",
        "tf.Session.run = counted",
        "optimizer._learning_rate = other",
        "optimizer.minimize = mine",
        "class A: pass\nA.net = noisy",
        "manager = tf.control_dependencies([loss])",
        "make = tf.control_dependencies",
        "import threading",
        "from helpers import *",
        "from .numpy import *",
        "from multiprocessing import Pool",
        "tf.train.start_queue_runners(sess)",
        "figure.canvas.mpl_connect('key_press_event', work)",
        "import signal\nsignal.signal(signal.SIGINT, work)",
        "import weakref\nweakref.ref(loss, work)",
        "import sys\nsys.settrace(lambda *event: work())",
        "np.seterrcall(work)",
        "np.set_printoptions(formatter={'float': work})",
        "np.set_printoptions(formatter={'float': lambda n: work(n)})",
        "import sys\nsys.modules['__main__'].loss = other",
        "from sys import modules\nmodules['__main__'].loss = other",
        "import __main__ as script\nscript.loss = other",
        "import importlib\nimportlib.import_module('__main__').loss = other",
        "import importlib\nimportlib.import_module(__name__).loss = other",
        "script = __import__(__name__)",
        "import sys\nsys._getframe().f_globals['loss'] = other",
        "class A:\n    def net(self):\n        return self.__loss\nA()._A__loss = other",
        "import gc\ngc.callbacks.append(work)",
        "thread = tf.train.LooperThread(coordinator, 1, work)",
        "supervisor = tf.train.Supervisor()\nsupervisor.loop(60, work)",
        "getattr(model, '__dict__')['loss'] = other",
        "import operator\noperator.methodcaller('__setattr__', 'loss', other)(model)",
    ],
)
def test_what_changes_things_unseen(text: str) -> None:
    assert with_graph(text + "\n").dynamics.obstacle


def test_an_attribute_that_is_compared() -> None:
    assert not with_graph("assert vars(args)[name] == vars(saved)[name]\n").dynamics.obstacle
    assert with_graph("vars(args)[name] = 3\n").dynamics.obstacle
    assert with_graph("vars(args)[name].append(3)\n").dynamics.obstacle
    assert with_graph("assert vars()[name] == 3\n").dynamics.obstacle


def test_a_name_that_is_looked_for_in_the_modules() -> None:
    assert not with_graph("import sys\nc = 'colab' in sys.modules\n").dynamics.obstacle
    assert not with_graph("import sys\nif 'colab' not in sys.modules: pass\n").dynamics.obstacle
    assert with_graph("import sys\nc = name in sys.modules\n").dynamics.obstacle
    assert with_graph("import sys\nc = 'a' in sys.modules in b\n").dynamics.obstacle
    assert with_graph("import sys\nc = sys.modules in [b]\n").dynamics.obstacle
    assert with_graph("import sys\nc = 'a' == sys.modules\n").dynamics.obstacle


def test_the_words_say_what_it_does() -> None:
    assert "may change what anything means" in with_graph("exec(code)\n").dynamics.obstacle
    assert "at moments" in with_graph("import threading\n").dynamics.obstacle


@pytest.mark.parametrize(
    "text",
    [
        "with tf.control_dependencies([loss]):\n    a = tf.identity(loss)",
        "class A:\n    def set(self):\n        self.loss = loss",
        "model.learning_rate = 1",
        "config = tf.ConfigProto()\nconfig.allow_soft_placement = True",
        "values = vars_of(model)",
        "# threading would not help",
        "if __name__ == '__main__':\n    pass",
        "if __name__ in ('__main__', 'script'):\n    pass",
        "import logging\nlog = logging.getLogger(__name__)",
        "class A:\n    def net(self):\n        return self.__loss",
        "environment.loop()",
        "from numpy import *",
        "from tensorflow.keras.layers import *",
        "from helpers import net",
        "text = 'multiprocessing'",
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_DFL)",
        "import weakref\nweakref.ref(loss)",
        "np.set_printoptions(precision=3)",
        "np.set_printoptions(formatter={'float': '{:.2f}'.format, 'int': lambda n: '%d' % n})",
    ],
)
def test_ordinary_code_does_not(text: str) -> None:
    assert with_graph(text + "\n").dynamics.obstacle == ""


def test_queues_only_run_what_is_there() -> None:
    found = with_graph("threads = tf.train.start_queue_runners()\n").dynamics
    assert found.obstacle and not found.obstacle_beside_queues
    found = with_graph("import threading\nthreads = tf.train.start_queue_runners()\n").dynamics
    assert found.obstacle and found.obstacle_beside_queues


def test_a_function_is_changed() -> None:
    assert with_graph("f.__defaults__[0].append(1)\n").dynamics.obstacle
