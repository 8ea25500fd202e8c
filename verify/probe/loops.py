"""Follows the loops of a script by their marks: what a step is, and when it is enough.

A turn of a loop is a step if weights changed in it and in no loop inside it. Every loop has as many
steps as were asked for; then it ends as if what it goes over had ended, and so do the loops around
it. When a loop that is spent is entered again it gets one turn more, so that the names which it
sets are there for the code behind it.
"""

import sys
import threading
from time import time as clock  # as it is before the script can replace it


class Loops(object):
    """The loops that are being executed, from the outside in; `parents` by the text of the file."""

    def __init__(self, parents):
        self._parents = parents
        self._local = threading.local()
        self.is_tracing = lambda: False

    # What the marks call.

    def steps(self, iterable, loop):
        if self.is_tracing() or _in_a_pipeline():
            return iterable
        return _Turns(self, iter(iterable), loop)

    def go(self, condition, loop):
        if self.is_tracing() or _in_a_pipeline():
            return condition
        began = clock()
        entry = self._entry(loop, _depth(3))
        if not condition:
            self.leave(entry)
            return condition
        if not self.has_more(entry):
            return False
        self.start(entry, began)
        return condition

    # What a mark is made of.

    def enter(self, loop, depth):
        """A new execution of a loop; what has ended without a word is taken off the stack."""
        while self.stack and not self._stands_around(self.stack[-1], loop, depth):
            self._pop()
        entry = Entry(loop, depth)
        self.stack.append(entry)
        return entry

    def has_more(self, entry):
        """Ends the last turn of a loop, and tells whether there is to be another."""
        if entry not in self.stack:
            return True  # an iterator that was handed to another thread
        while self.stack[-1] is not entry:
            self._pop()
        if entry.turns:
            self.after(entry)
        if not entry.turns or self.goes_on(entry):
            return True
        self.stack.pop()
        return False

    def start(self, entry, began):
        entry.turns += 1
        self.before(entry, began)

    def leave(self, entry):
        """The loop was left: by its end, by `break`, by an exception."""
        if entry in self.stack:
            while self.stack[-1] is not entry:
                self._pop()
            self._pop()

    def drop(self, entry):
        """There is nothing more to go over; its last turn was noted already."""
        if entry in self.stack:
            self.stack.remove(entry)

    def finish(self):
        """The script is over: the last turns of what was left by an exception count, too."""
        while self.stack:
            self._pop()

    # What the kinds of run decide.

    def after(self, entry):
        """A turn has ended."""

    def goes_on(self, entry):
        """Whether the loop may take another turn after its first."""
        return True

    def before(self, entry, began):
        """A turn begins."""

    # The stack.

    @property
    def stack(self):
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        return self._local.stack

    def _pop(self):
        entry = self.stack.pop()
        if entry.turns:
            self.after(entry)

    def _entry(self, loop, depth):
        for entry in reversed(self.stack):
            if entry.loop == loop and entry.depth == depth:
                return entry
        return self.enter(loop, depth)

    def _stands_around(self, entry, loop, depth):
        if entry.depth != depth:
            return entry.depth < depth
        parent = self._parents.get(loop, 0)
        while parent and parent != entry.loop:
            parent = self._parents.get(parent, 0)
        return bool(parent)


def _in_a_pipeline():
    """Whether a thread that Python did not start runs this: TensorFlow's, for a pipeline.

    Loops that make an element there run beside the steps, and a step is none of their turns.
    """
    return isinstance(threading.current_thread(), threading._DummyThread)


class CountedLoops(Loops):
    """Finds out which turns are steps, and ends the loops that had enough of them.

    `weights_changed` is asked after a turn in which something was computed, which others say by
    setting `worked`; `on_step` hears of every step. `on_begin` notes the weights before the first
    and tells whether there were any; in the loops inside, they may have changed already. A loop
    that computes and changes nothing, as an evaluation does, ends after `idle_limit` turns.
    """

    def __init__(self, parents, limit, budget_s, idle_limit):
        Loops.__init__(self, parents)
        self._limit = limit
        self._budget_s = budget_s
        self._idle_limit = idle_limit
        self._steps_of = {}
        self._first_step = None
        self._has_begun = False
        self.turns_of = {}
        self.limits = {}
        self.idle = set()
        self.step = 0
        self.cut_at = None
        self.worked = False
        self.weights_changed = lambda: False
        self.on_step = lambda loop: None
        self.on_turn = lambda: None
        self.on_begin = lambda: True

    @property
    def steps_of(self):
        return dict(self._steps_of)

    @property
    def is_cut(self):
        """Whether a loop was ended before its end."""
        return bool(self.limits)

    def after(self, entry):
        entry.idle += 1
        if not self.worked and not entry.changed:
            return
        if self._has_changed() or entry.changed:
            entry.changed = False
            self._count(entry.loop)
            entry.idle = 0
        else:
            entry.computes = True

    def _has_changed(self):
        worked, self.worked = self.worked, False
        return worked and self.weights_changed()

    def goes_on(self, entry):
        idles = entry.computes and 0 < self._idle_limit <= entry.idle
        if not (entry.ends or idles or self._is_spent(entry.loop)):
            return True
        if idles:
            self.idle.add(entry.loop)
        else:
            self._cut()
        self.limits.setdefault(entry.loop, self.turns_of[entry.loop])
        return False

    def before(self, entry, began):
        if entry.turns == 1:
            self._enter_from(entry)
        self.turns_of[entry.loop] = self.turns_of.get(entry.loop, 0) + 1
        self.on_turn()

    def _enter_from(self, entry):
        """What changed before a loop is no step of it, but may be one of the loop around it."""
        if self._has_changed():
            place = self.stack.index(entry)
            if place:
                self.stack[place - 1].changed = True
            if not (self.step or (place and self._has_begun)):
                self._has_begun = self.on_begin()

    def begin_batch(self, loop):
        """A turn of a loop that TensorFlow runs itself begins."""
        if not self.turns_of.get(loop):
            self.on_turn()
            if not self.step:
                self._has_begun = self.on_begin()

    def batch(self, loop, batches=1):
        """Such a turn, or several at once, has ended; whether the loop takes another."""
        self.turns_of[loop] = self.turns_of.get(loop, 0) + batches
        if self.weights_changed():
            self._count(loop, batches)
        if not self._is_spent(loop):
            return True
        self._cut()
        self.limits.setdefault(loop, self.turns_of[loop])
        return False

    def _cut(self):
        if self.cut_at is None:
            self.cut_at = self.step

    def _count(self, loop, steps=1):
        self.step += steps
        self._first_step = self._first_step or clock()
        self._steps_of[loop] = self._steps_of.get(loop, 0) + steps
        self.on_step(loop)
        if self._is_spent(loop):
            for entry in self.stack:
                entry.ends = True

    def _is_spent(self, loop):
        if not self._limit or self._steps_of.get(loop, 0) < self._limit:
            return False
        return not self._budget_s or clock() - self._first_step > self._budget_s


class TimedLoops(Loops):
    """Gives every loop the turns that it had when its steps were counted, and notes the time.

    `limits` says after how many turns a loop was ended, `idle` which of them only computed, and
    `step_loops` which loops are noted. Few quick steps tell little of the time that one takes:
    loops that train go on for `longer` times their turns, and for `at_least_s` seconds.
    """

    def __init__(self, parents, limits, step_loops, idle=(), longer=1, at_least_s=0.0):
        Loops.__init__(self, parents)
        self._limits = limits
        self._idle = idle
        self._longer = longer
        self._at_least_s = at_least_s
        self._first_turn = None
        self.turns_of = {}
        self.times = {loop: [] for loop in step_loops}
        self.ends = {loop: [] for loop in step_loops}

    @property
    def is_cut(self):
        """Whether a loop is, or will be, ended before its end."""
        return bool(self._limits)

    def goes_on(self, entry):
        if not (entry.ends or self._is_spent(entry.loop)):
            return True
        if entry.loop in self.times:
            for around in self.stack:
                around.ends = True
        return False

    def _is_spent(self, loop):
        limit = self._limits.get(loop)
        if limit is None:
            return False
        if loop in self._idle:
            return self.turns_of[loop] >= limit
        if self.turns_of[loop] < limit * self._longer:
            return False
        first = self._first_turn
        return first is None or clock() - first >= self._at_least_s

    def before(self, entry, began):
        self.turns_of[entry.loop] = self.turns_of.get(entry.loop, 0) + 1
        times = self.times.get(entry.loop)
        if times is not None:
            self._first_turn = self._first_turn or began
            times.append(began)

    def after(self, entry):
        ends = self.ends.get(entry.loop)
        if ends is not None:
            ends.append(clock())

    def begin_batch(self, loop):
        """A step lasts until the next one begins, even if that is in another call of `fit`.

        So what a call costs beside its batches counts, and a script that calls `fit` for each
        batch can be held against one that makes the step itself.
        """
        if loop not in self.times:
            return
        now = clock()
        self._first_turn = self._first_turn or now
        if self.ends[loop]:
            self.ends[loop][-1] = now
        self.times[loop].append(now)

    def batch(self, loop, batches=1):
        self.turns_of[loop] = self.turns_of.get(loop, 0) + batches
        if loop in self.ends:
            self.ends[loop].append(clock())
        return not self._is_spent(loop)


class Entry(object):
    """One execution of a loop."""

    __slots__ = ("changed", "computes", "depth", "ends", "idle", "loop", "turns")

    def __init__(self, loop, depth):
        self.loop = loop
        self.depth = depth
        self.turns = 0
        self.idle = 0
        self.computes = False
        self.changed = False
        self.ends = False


class _Turns(object):
    """What a marked `for` goes over: the items of an iterator, as long as there are turns."""

    def __init__(self, loops, iterator, loop):
        self._loops = loops
        self._iterator = iterator
        self._entry = loops.enter(loop, _depth(4))

    def __iter__(self):
        return self

    def __next__(self):
        began = clock()
        if not self._loops.has_more(self._entry):
            raise StopIteration
        try:
            item = next(self._iterator)
        except BaseException:
            self._loops.drop(self._entry)
            raise
        self._loops.start(self._entry, began)
        return item

    def __del__(self):
        self._loops.leave(self._entry)


def _depth(skipped):
    frame = sys._getframe(skipped)
    depth = 0
    while frame is not None:
        depth += 1
        frame = frame.f_back
    return depth
