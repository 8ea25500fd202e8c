"""One run written in place of several, traps first: results that must not come too early."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import GRAPH, facts
from tfrewrite.analysis.graphs.step_runs import StepRun
from tfrewrite.edits import apply_edits
from tfrewrite.writing.merged_runs import MergedRun

WITH = "with tf.Session() as sess:\n    for v in data:\n"


def parts_of(text: str) -> tuple[str, MergedRun, list[StepRun]]:
    """A program's text with all of its runs merged, in the order of their statements."""
    found = facts(text)
    runs = sorted(found.sessions.runs.values(), key=lambda run: found.source.span(run.call))
    parts = [StepRun(found.source.statement(run.call), run) for run in runs]
    return found.source.text, MergedRun(found, parts), parts


def merged(body: str, before: str = "", head: str = WITH) -> str:
    """A loop's body after all runs in it have become one."""
    start = GRAPH + textwrap.dedent(before) + head
    body = textwrap.dedent(body).strip("\n") + "\n"
    text, run, _ = parts_of(start + textwrap.indent(body, " " * 8))
    result = apply_edits(text, run.edits())
    ast.parse(result)
    assert result.startswith(start)
    return textwrap.dedent(result.removeprefix(start)).strip("\n")


def same(code: str) -> str:
    return textwrap.dedent(code).strip("\n")


# ---- traps: names that are in use ----------------------------------------------------------------


def test_a_result_that_is_read_in_between_comes_later() -> None:
    old = """
        a = sess.run(loss, {x: v})
        print(b_old)
        b_old = sess.run(accuracy, {x: v})
    """
    new = """
        a, accuracy_value = sess.run([loss, accuracy], {x: v})
        print(b_old)
        b_old = accuracy_value
    """
    assert merged(old) == same(new)


def test_a_result_that_a_function_in_between_reads_comes_later() -> None:
    before = "def show():\n    print(b_old)\n"
    old = """
        a = sess.run(loss, {x: v})
        show()
        b_old = sess.run(accuracy, {x: v})
    """
    assert "b_old = accuracy_value" in merged(old, before)


def test_two_results_with_one_name_keep_their_order() -> None:
    old = """
        a = sess.run(loss, {x: v})
        a = sess.run(accuracy, {x: v})
    """
    new = """
        a, accuracy_value = sess.run([loss, accuracy], {x: v})
        a = accuracy_value
    """
    assert merged(old) == same(new)


def test_a_result_whose_name_another_run_needs_comes_later() -> None:
    old = """
        a = sess.run(loss, {x: v})
        v = sess.run(accuracy, {x: v})
    """
    new = """
        a, accuracy_value = sess.run([loss, accuracy], {x: v})
        v = accuracy_value
    """
    assert merged(old) == same(new)


def test_a_new_name_does_not_collide() -> None:
    old = """
        a = sess.run(loss, {x: v})
        print(sess.run(accuracy, {x: v}), accuracy_value, accuracy_value_2)
    """
    assert "a, accuracy_value_3 = sess.run([loss, accuracy], {x: v})" in merged(old)


def test_two_new_names_for_the_same_fetch_are_two() -> None:
    old = """
        print(sess.run(loss, {x: v}))
        print(sess.run(loss, {x: v}))
    """
    new = """
        loss_value, loss_value_2 = sess.run([loss, loss], {x: v})
        print(loss_value)
        print(loss_value_2)
    """
    assert merged(old) == same(new)


def test_an_underscore_that_is_read_is_not_thrown_into() -> None:
    old = """
        sess.run(train_op, {x: v})
        a = sess.run(loss, {x: v})
        print(_)
    """
    assert merged(old).startswith("train_op_value, a = sess.run([train_op, loss], {x: v})")


def test_a_list_with_a_comment_in_it_is_not_taken_apart() -> None:
    old = """
        a, b = sess.run([
            loss,  # the loss
            accuracy], {x: v})
        c = sess.run(w, {x: v})
    """
    result = merged(old)
    assert result.startswith("(a, b), c = sess.run([[")
    assert result.count("# the loss") == 1


@pytest.mark.parametrize(
    ("targets", "fetches", "new"),
    [
        ("a, b", "[*many]", "(a, b), c = sess.run([[*many], w], {x: v})"),
        ("a, b", "[loss, *many]", "(a, b), c = sess.run([[loss, *many], w], {x: v})"),
        ("a, b", "many", "(a, b), c = sess.run([many, w], {x: v})"),
        ("a,", "many", "(a,), c = sess.run([many, w], {x: v})"),
        ("a", "[loss]", "a, c = sess.run([[loss], w], {x: v})"),
        ("a", "[loss, accuracy]", "a, c = sess.run([[loss, accuracy], w], {x: v})"),
    ],
)
def test_results_whose_number_is_not_the_fetches_stay_together(
    targets: str, fetches: str, new: str
) -> None:
    old = f"{targets} = sess.run({fetches}, {{x: v}})\nc = sess.run(w, {{x: v}})\n"
    assert merged(old) == new


def test_a_string_over_several_lines_keeps_its_text() -> None:
    old = '''
        a = sess.run(loss, feed("""one
          two"""))
        b = sess.run(accuracy, feed("""one
          two"""))
    '''
    result = merged(old)
    assert result.startswith('a, b = sess.run([loss, accuracy], feed("""one\n')
    assert '\n  two"""))' in result


# ---- each shape of statement ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "new"),
    [
        ("a = {0}", "b = {1}", "a, b = {2}"),
        ("{0}", "b = {1}", "_, b = {2}"),
        ("a = {0}", "{1}", "a, _ = {2}"),
        ("{0}", "{1}", "_, _ = {2}"),
        ("a = {0}", "print({1})", "a, accuracy_value = {2}\nprint(accuracy_value)"),
        ("print({0})", "b = {1}", "loss_value, b = {2}\nprint(loss_value)"),
        ("print({0})", "{1}", "loss_value, _ = {2}\nprint(loss_value)"),
        ("a = {0}", "b = {1} * 2", "a, accuracy_value = {2}\nb = accuracy_value * 2"),
        ("a = {0}", "b += {1}", "a, accuracy_value = {2}\nb += accuracy_value"),
        ("a = {0}", "b: float = {1}", "a, accuracy_value = {2}\nb: float = accuracy_value"),
        ("a = {0}", "self.b = {1}", "a, accuracy_value = {2}\nself.b = accuracy_value"),
        ("a = {0}", "b[0] = {1}", "a, accuracy_value = {2}\nb[0] = accuracy_value"),
        ("a = {0}", "b = c = {1}", "a, accuracy_value = {2}\nb = c = accuracy_value"),
        ("a = {0}", "b = {1}[0]", "a, accuracy_value = {2}\nb = accuracy_value[0]"),
        ("a = {0}", "b.append({1})", "a, accuracy_value = {2}\nb.append(accuracy_value)"),
    ],
)
def test_each_shape_of_statement(first: str, second: str, new: str) -> None:
    calls = ("sess.run(loss, {x: v})", "sess.run(accuracy, {x: v})")
    old = f"{first.format(*calls)}\n{second.format(*calls)}\n"
    assert merged(old) == new.format(*calls, "sess.run([loss, accuracy], {x: v})")


def test_a_return_gives_the_result() -> None:
    old = """
        a = sess.run(loss, {x: v})
        return a, sess.run(accuracy, {x: v})
    """
    new = """
        a, accuracy_value = sess.run([loss, accuracy], {x: v})
        return a, accuracy_value
    """
    head = "sess = tf.Session()\nif True:\n    def step(v):\n"
    assert merged(old, head=head) == same(new)


def test_two_runs_in_one_statement() -> None:
    old = "print(sess.run(loss, {x: v}), sess.run(accuracy, {x: v}))\n"
    new = """
        loss_value, accuracy_value = sess.run([loss, accuracy], {x: v})
        print(loss_value, accuracy_value)
    """
    assert merged(old) == same(new)


def test_lists_are_taken_apart_element_by_element() -> None:
    old = """
        _, a = sess.run([train_op, loss], {x: v})
        [b, c] = sess.run((accuracy, w), {x: v})
    """
    new = "_, a, b, c = sess.run([train_op, loss, accuracy, w], {x: v})"
    assert merged(old) == new


def test_a_dict_of_fetches_stays_one() -> None:
    old = """
        a = sess.run({'loss': loss}, {x: v})
        b = sess.run(accuracy, {x: v})
    """
    assert merged(old) == "a, b = sess.run([{'loss': loss}, accuracy], {x: v})"


@pytest.mark.parametrize(
    ("fetch", "name"),
    [
        ("self.loss", "loss_value"),
        ("losses[0]", "results"),
        ("[loss, accuracy]", "results"),
        ("loss + 1", "results"),
    ],
)
def test_new_names_say_what_they_are(fetch: str, name: str) -> None:
    old = f"print(sess.run({fetch}, {{x: v}}))\nb = sess.run(w, {{x: v}})\n"
    assert merged(old).startswith(f"{name}, b = sess.run(")


# ---- the new call --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "new"),
    [
        ("sess.run({0}, {{x: v}})", "sess.run([loss, accuracy], {x: v})"),
        ("sess.run({0}, feed_dict={{x: v}})", "sess.run([loss, accuracy], feed_dict={x: v})"),
        (
            "sess.run(feed_dict={{x: v}}, fetches={0})",
            "sess.run(feed_dict={x: v}, fetches=[loss, accuracy])",
        ),
        ("sess.run( {0} )", "sess.run( [loss, accuracy] )"),
        ("{0}.eval({{x: v}})", "sess.run([loss, accuracy], feed_dict={x: v})"),
        ("{0}.eval()", "sess.run([loss, accuracy])"),
        ("{0}.eval(session=sess)", "sess.run([loss, accuracy])"),
    ],
)
def test_the_new_call_is_written_as_the_first_one(call: str, new: str) -> None:
    old = f"a = {call.format('loss')}\nb = {call.format('accuracy')}\n"
    assert merged(old) == f"a, b = {new}"


@pytest.mark.parametrize(
    ("first", "second", "feed"),
    [
        ("sess.run(loss, {x: v})", "sess.run(accuracy, {y: u})", "{x: v, y: u}"),
        ("sess.run(loss, {x: v , })", "sess.run(accuracy, {y: u})", "{x: v, y: u}"),
        ("sess.run(loss, {  x: v})", "sess.run(accuracy, {y: u})", "{  x: v, y: u}"),
        ("sess.run(loss, {x: (v)})", "sess.run(accuracy, {y: u})", "{x: (v), y: u}"),
        ("sess.run(loss, {x: v})", "sess.run(accuracy, {y: (u), x: v})", "{x: v, y: u}"),
        ("sess.run(loss, {x: v})", "sess.run(accuracy, {(y): u, z: t})", "{x: v, y: u, z: t}"),
        ("sess.run(loss, {x: v, y: u})", "sess.run(accuracy, {y: u})", "{x: v, y: u}"),
        ("sess.run(loss, {})", "sess.run(accuracy, {y: u})", "{y: u}"),
        ("sess.run(loss, {x: v['#']})", "sess.run(accuracy, {y: u})", "{y: u, x: v['#']}"),
        ("sess.run(loss, {x: v})", "sess.run(accuracy)", "{x: v}"),
        ("sess.run(loss, ({x: v}))", "sess.run(accuracy, {y: u})", "({x: v, y: u})"),
    ],
)
def test_the_new_call_feeds_all(first: str, second: str, feed: str) -> None:
    assert merged(f"a = {first}\nb = {second}\n") == f"a, b = sess.run([loss, accuracy], {feed})"


@pytest.mark.parametrize(
    ("first", "second", "new"),
    [
        ("sess.run(loss)", "sess.run(w, {x: v})", "sess.run([loss, w], feed_dict={x: v})"),
        ("sess.run(loss, None)", "sess.run(w, {x: v})", "sess.run([loss, w], feed_dict={x: v})"),
        ("sess.run(loss)", "w.eval(feed)", "sess.run([loss, w], feed_dict=feed)"),
        ("loss.eval()", "w.eval({x: v})", "sess.run([loss, w], feed_dict={x: v})"),
        ("loss.eval({x: v})", "w.eval({y: u})", "sess.run([loss, w], feed_dict={x: v, y: u})"),
        (
            "sess.run(feed_dict={x: v}, fetches=loss)",
            "sess.run(w, {y: u})",
            "sess.run(feed_dict={x: v, y: u}, fetches=[loss, w])",
        ),
    ],
)
def test_the_new_call_feeds_what_the_first_did_not(first: str, second: str, new: str) -> None:
    assert merged(f"a = {first}\nb = {second}\n") == f"a, b = {new}"


def test_a_string_over_several_lines_in_another_feed_keeps_its_text() -> None:
    old = '''
        a = sess.run(loss, {x: v})
        b = sess.run(accuracy, {y: """one
          two"""})
    '''
    assert '{x: v, y: """one\n  two"""})' in merged(old)


def test_a_line_that_stays_too_long_is_broken_before_the_feed() -> None:
    names = [f"a_rather_long_name_for_{n}" for n in range(3)]
    feeds = ["{x: v}", "{y: u}", "{x: v}"]
    runs = enumerate(zip(names, feeds, strict=True))
    old = "".join(f"r{n} = sess.run({name}, feed_dict={feed})\n" for n, (name, feed) in runs)
    new = f"""
        r0, r1, r2 = sess.run(
            [{", ".join(names)}],
            feed_dict={{x: v, y: u}})
    """
    assert merged(old) == same(new)


def test_the_default_session_is_asked_for_where_it_has_no_name() -> None:
    old = "a = loss.eval({x: v})\nb = accuracy.eval({x: v})\n"
    head = "with tf.Session():\n    for v in data:\n"
    new = "a, b = tf.get_default_session().run([loss, accuracy], feed_dict={x: v})"
    assert merged(old, head=head) == new


def test_a_long_line_is_broken_after_the_bracket() -> None:
    fetches = "a_name_that_is_rather_long", "another_name_that_is_just_as_long"
    old = "".join(f"r{n} = sess.run({f}, feed_dict={{x: v}})\n" for n, f in enumerate(fetches))
    new = f"""
        r0, r1 = sess.run(
            [{", ".join(fetches)}], feed_dict={{x: v}})
    """
    assert merged(old, before="") == same(new)


def test_a_call_over_several_lines_keeps_them() -> None:
    old = """
        a = sess.run(
            loss,
            feed_dict={
                x: v,
            })
        b = sess.run(accuracy, feed_dict={x: v})
    """
    new = """
        a, b = sess.run(
            [loss, accuracy],
            feed_dict={
                x: v,
            })
    """
    assert merged(old) == same(new)


def test_comments_come_along() -> None:
    old = """
        # first
        a = sess.run(loss, {x: v})  # one
        # second
        b = sess.run(accuracy, {x: v})  # two
    """
    result = merged(old)
    assert all(result.count(word) == 1 for word in ("# first", "# one", "# second", "# two"))


# ---- parts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "targets"),
    [
        ("sess.run(loss)", []),
        ("a = sess.run(loss)", ["a"]),
        ("a, b = sess.run(loss)", ["a", "b"]),
        ("[a, b] = sess.run(loss)", ["a", "b"]),
        ("a, b.c = sess.run(loss)", None),
        ("a, *b = sess.run(loss)", None),
        ("a.b = sess.run(loss)", None),
        ("a = b = sess.run(loss)", None),
        ("a += sess.run(loss)", None),
        ("a: int = sess.run(loss)", None),
        ("a = sess.run(loss)[0]", None),
        ("print(sess.run(loss))", None),
    ],
)
def test_the_names_that_results_go_to(statement: str, targets: list[str] | None) -> None:
    _, _, (part,) = parts_of(f"{GRAPH}sess = tf.Session()\n{statement}\n")
    told = part.targets
    assert (None if told is None else [ast.unparse(target) for target in told]) == targets


def test_what_a_part_needs_is_the_session_the_fetches_and_the_feed() -> None:
    _, _, parts = parts_of(
        f"{GRAPH}sess = tf.Session()\na = sess.run(loss, {{x: v}})\nb = loss.eval(session=sess)\n"
    )
    needs = [[ast.unparse(need) for need in part.run.needs] for part in parts]
    assert needs == [["sess", "loss", "{x: v}"], ["loss", "sess"]]
