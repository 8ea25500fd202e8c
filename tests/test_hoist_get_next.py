"""TFR104: what is left alone and refused first, then what is rewritten."""

from __future__ import annotations

from rulebench import bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.hoist_get_next import HoistGetNext

HEAD = """
import numpy as np
import tensorflow as tf
"""
PIPELINE = """
dataset = tf.data.Dataset.from_tensor_slices(np.arange(10)).batch(2)
iterator = dataset.make_initializable_iterator()
sess = tf.Session()
"""


def script(loop: str, *, pipeline: str = PIPELINE, before: str = "") -> str:
    """A script with an iterator and a loop."""
    return HEAD + "".join(f"{_flat(part)}\n" for part in (before, pipeline, loop) if part)


def _flat(part: str) -> str:
    lines = part.strip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[indent:] for line in lines).rstrip()


EAGER = """
dataset = tf.data.Dataset.range(10)
iterator = iter(dataset)
"""

test_left_alone = bench(
    HoistGetNext,
    leaves_alone(
        "made before the loop",
        script(
            """
            batch = iterator.get_next()
            for step in range(10):
                print(sess.run(batch))
            """
        ),
    ),
    leaves_alone(
        "an eager iterator",
        script(
            """
            for step in range(10):
                print(iterator.get_next())
            """,
            pipeline=EAGER,
        ),
    ),
    leaves_alone(
        "an eager iterator beside a session",
        script(
            """
            for step in range(10):
                x = iterator.get_next()
                sess.run(train_op, feed_dict={p: x.numpy()})
            """,
            pipeline=EAGER + "sess = tf.compat.v1.Session()\n",
        ),
    ),
    leaves_alone(
        "TensorFlow 2, where the old iterators are eager too",
        script(
            """
            iterator = tf.compat.v1.data.make_one_shot_iterator(dataset)
            for step in range(10):
                x = iterator.get_next()
                print(x)
            """,
            pipeline="dataset = tf.data.Dataset.range(10)",
        ),
    ),
    leaves_alone(
        "a class of the file",
        script(
            """
            class Reader:
                def get_next(self):
                    self.position += 1
                    return tensors[self.position]

            reader = Reader()
            for step in range(10):
                print(sess.run(reader.get_next()))
            """
        ),
        shapes=("crlf", "tabs"),
    ),
    leaves_alone(
        "something that gives arrays to feed",
        script(
            """
            for step in range(10):
                batch = reader.get_next()
                sess.run(train_op, feed_dict={x: batch})
            """,
            before="from readers import reader",
        ),
    ),
    leaves_alone(
        "towers of a model, each with a batch of its own",
        script(
            """
            losses = []
            for gpu in range(4):
                x = iterator.get_next()
                losses.append(tf.reduce_mean(x))
            loss = tf.add_n(losses)
            for step in range(10):
                sess.run(loss)
            """
        ),
    ),
    leaves_alone(
        "in a function of the pipeline",
        script(
            """
            def parse(x):
                for i in range(3):
                    x += iterator.get_next()
                return x

            for step in range(10):
                sess.run(train_op)
            """
        ),
        shapes=("crlf", "tabs"),
    ),
    leaves_alone(
        "in a traced function",
        script(
            """
            @tf.function
            def step():
                for i in range(3):
                    tf.print(iterator.get_next())
            """
        ),
        shapes=("crlf", "tabs"),
    ),
    leaves_alone(
        "another module's tf",
        """
        import tflearn as tf
        iterator = tf.data.make_one_shot_iterator(1)
        for step in range(3):
            x = iterator.get_next()
            print(x)
        """,
    ),
    leaves_alone(
        "never run",
        script(
            """
            for step in range(10):
                x = iterator.get_next()
                sess.run(train_op)
            """
        ),
    ),
    leaves_alone(
        "in a lambda",
        script("take = lambda: [sess.run(iterator.get_next()) for _ in range(3)]"),
    ),
    leaves_alone(
        "in the body of a class",
        HEAD
        + "sess = tf.Session()\niterator = tf.data.make_one_shot_iterator(load())\n"
        + "class Batches:\n    for step in range(3):\n"
        + "        print(sess.run(iterator.get_next()))\n",
        shapes=("crlf", "tabs"),
    ),
)


test_refused = bench(
    HoistGetNext,
    refuses(
        "ops built on it in the loop",
        script(
            """
            for step in range(10):
                x = iterator.get_next()
                loss = tf.reduce_mean(x)
                print(sess.run(loss))
            """
        ),
        reason="used-otherwise",
    ),
    refuses(
        "an op around it",
        script(
            """
            for step in range(10):
                print(sess.run(tf.reduce_mean(iterator.get_next())))
            """
        ),
        reason="used-otherwise",
    ),
    refuses(
        "kept over the turns",
        script(
            """
            batches = []
            for step in range(10):
                x = iterator.get_next()
                batches.append(x)
                print(sess.run(train_op))
            print(sess.run(batches))
            """
        ),
        reason="used-otherwise",
    ),
    refuses(
        "the one before and this one in a run",
        script(
            """
            last = None
            for step in range(10):
                x = iterator.get_next()
                if last is not None:
                    print(sess.run([last, x]))
                last = x
            """
        ),
        reason="used-otherwise",
    ),
    refuses(
        "as many as the list has turns, in one run",
        script(
            """
            for step in range(10):
                print(sess.run([iterator.get_next() for _ in range(4)]))
            """
        ),
        reason="used-otherwise",
    ),
    refuses(
        "fed",
        script(
            """
            for step in range(10):
                x = iterator.get_next()
                print(sess.run(train_op, feed_dict={x: step}))
            """
        ),
        reason="used-otherwise",
    ),
    refuses(
        "a callable made of it",
        script(
            """
            for step in range(10):
                x = iterator.get_next()
                take = sess.make_callable(x)
                print(sess.run(train_op))
            """
        ),
        reason="used-otherwise",
    ),
    refuses(
        "its name is read",
        script(
            """
            for step in range(10):
                x = iterator.get_next()
                print(x.name, sess.run(x))
            """
        ),
        reason="used-otherwise",
    ),
    refuses(
        "read by a function",
        script(
            """
            def show():
                print(x)

            for step in range(10):
                x = iterator.get_next()
                print(sess.run(x))
                show()
            """
        ),
        reason="used-otherwise",
    ),
    refuses(
        "two elements of one iterator in one run",
        script(
            """
            for step in range(10):
                a = iterator.get_next()
                b = iterator.get_next()
                print(sess.run([a, b]))
            """
        ),
        reason="two-in-one-run",
    ),
    refuses(
        "an iterator made in the loop",
        script(
            """
            for step in range(10):
                it = dataset.make_one_shot_iterator()
                print(sess.run(it.get_next()))
            """
        ),
        reason="rebound-in-loop",
    ),
    refuses(
        "an iterator made where its element is taken",
        script(
            """
            for step in range(10):
                print(sess.run(dataset.make_one_shot_iterator().get_next()))
            """
        ),
        reason="made-in-loop",
    ),
    refuses(
        "an iterator rebound in the loop",
        script(
            """
            for step in range(10):
                print(sess.run(iterator.get_next()))
                if step == 5:
                    iterator = tf.data.make_one_shot_iterator(dataset)
            """
        ),
        reason="rebound-in-loop",
    ),
    refuses(
        "a function that is called rebinds it",
        script(
            """
            def restart():
                global iterator
                iterator = tf.data.make_one_shot_iterator(dataset)

            for step in range(10):
                print(sess.run(iterator.get_next()))
                restart()
            """
        ),
        reason="iterator-unknown",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "the iterators of a loop",
        script(
            """
            other = dataset.make_one_shot_iterator()
            for it in (iterator, other):
                print(sess.run(it.get_next()))
            """
        ),
        reason="rebound-in-loop",
    ),
    refuses(
        "an iterator by its number",
        script(
            """
            iterators = [iterator]
            for step in range(10):
                print(sess.run(iterators[step % 1].get_next()))
            """
        ),
        reason="operand-not-sure",
    ),
    refuses(
        "not there on every way",
        script(
            """
            if train:
                it = tf.data.make_one_shot_iterator(dataset)
            for step in range(steps):
                print(sess.run(it.get_next()))
            """,
            before="from settings import train, steps",
        ),
        reason="operand-not-sure",
    ),
    refuses(
        "a parameter whose callers are not seen",
        script(
            """
            def train(sess, reader):
                for step in range(10):
                    print(sess.run(reader.get_next()))
            """
        ),
        reason="iterator-unknown",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "one caller gives something of its own",
        script(
            """
            class Reader:
                def get_next(self):
                    return tf.constant(1)

            def train(sess, reader):
                for step in range(10):
                    print(sess.run(reader.get_next()))

            train(sess, iterator)
            train(sess, Reader())
            """
        ),
        reason="iterator-unknown",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "an attribute that another method changes",
        """
        import tensorflow as tf

        class Trainer:
            def __init__(self, dataset):
                self.sess = tf.Session()
                self.iterator = tf.data.make_one_shot_iterator(dataset)

            def restart(self, dataset):
                self.iterator = tf.data.make_one_shot_iterator(dataset)

            def train(self):
                for step in range(10):
                    print(self.sess.run(self.iterator.get_next()))
        """,
        reason="operand-not-sure",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "an attribute that is set some time",
        """
        import tensorflow as tf

        class Trainer:
            def prepare(self, dataset):
                self.iterator = tf.data.make_one_shot_iterator(dataset)

            def train(self, sess):
                for step in range(10):
                    print(sess.run(self.iterator.get_next()))
        """,
        reason="operand-not-sure",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "name scopes, devices and control dependencies of the loop",
        script(
            """
            for step in range(10):
                with tf.name_scope('step'):
                    print(sess.run(iterator.get_next()))
            for step in range(10):
                with tf.device('/cpu:0'):
                    print(sess.run(iterator.get_next()))
            for step in range(10):
                with tf.control_dependencies([train_op]):
                    print(sess.run(iterator.get_next()))
            for step in range(10):
                with graph.as_default():
                    print(sess.run(iterator.get_next()))
            """
        ),
        reason="scope-in-loop",
    ),
    refuses(
        "another default graph",
        script(
            """
            for step in range(10):
                print(sess.run(iterator.get_next()))
                tf.reset_default_graph()
            """
        ),
        reason="graph-changes",
    ),
    refuses(
        "the ops are counted",
        script(
            """
            for step in range(10):
                print(sess.run(iterator.get_next()))
                print(len(sess.graph.get_operations()))
            """
        ),
        reason="graph-read",
    ),
    refuses(
        "the users of the iterator are counted",
        script(
            """
            for step in range(10):
                print(sess.run(iterator.get_next()))
            print(len(resource.consumers()))
            """
        ),
        reason="graph-read",
    ),
    refuses(
        "the name of a later element is shown",
        script(
            """
            for step in range(10):
                print(sess.run(iterator.get_next()))
            print([iterator.get_next()])
            """
        ),
        reason="graph-read",
    ),
    refuses(
        "a variable of the element's name",
        script(
            """
            for step in range(10):
                print(sess.run(iterator.get_next(name='n')))
            n = tf.Variable(0, name='n')
            """
        ),
        reason="graph-read",
    ),
    refuses(
        "the message of the end is printed",
        script(
            """
            while True:
                try:
                    print(sess.run(iterator.get_next()))
                except tf.errors.OutOfRangeError as error:
                    print(error)
                    break
            """
        ),
        reason="graph-read",
    ),
    refuses(
        "looked up by the name of an op of the loop",
        script(
            """
            for step in range(10):
                print(sess.run(iterator.get_next()))
            fourth = sess.graph.get_tensor_by_name('IteratorGetNext_3:0')
            """
        ),
        reason="graph-read",
    ),
    refuses(
        "a graph that is closed",
        script(
            """
            tf.get_default_graph().finalize()
            for step in range(10):
                print(sess.run(iterator.get_next()))
            """
        ),
        reason="graph-finalized",
    ),
    refuses(
        "a session that closes the graph",
        script(
            """
            with tf.train.MonitoredTrainingSession() as mon_sess:
                while not mon_sess.should_stop():
                    print(mon_sess.run(iterator.get_next()))
            """
        ),
        reason="hooked-session",
    ),
    refuses(
        "sometimes eager",
        script(
            """
            for step in range(10):
                if tf.executing_eagerly():
                    print(iterator.get_next())
                else:
                    print(sess.run(iterator.get_next()))
            """
        ),
        reason=("eager-mode", "used-otherwise"),
    ),
    refuses(
        "a generator",
        script(
            """
            def batches():
                while True:
                    yield sess.run(iterator.get_next())
            """
        ),
        reason="generator",
        shapes=("crlf", "tabs"),
    ),
    refuses(
        "names changed unseen",
        script(
            """
            for step in range(10):
                exec('iterator = other')
                print(sess.run(iterator.get_next()))
            """
        ),
        reason="dynamic-code",
    ),
)


test_offered = bench(
    HoistGetNext,
    offers(
        "random ops made after the loop",
        script(
            """
            tf.set_random_seed(1)
            for step in range(10):
                print(sess.run(iterator.get_next()))
            noise = tf.random_normal([3])
            print(sess.run(noise))
            """
        ),
        contract="resampled",
        changes="derives their seeds from the number of ops",
    ),
    offers(
        "random ops made in the loop",
        script(
            """
            tf.set_random_seed(1)
            for step in range(10):
                print(sess.run(iterator.get_next()), sess.run(tf.random_normal([3])))
            """
        ),
        contract="resampled",
    ),
    offers(
        "weights made after the loop, in a function",
        script(
            """
            def build():
                return tf.layers.dense(x, 3)

            tf.set_random_seed(1)
            for epoch in range(3):
                for step in range(10):
                    print(sess.run(iterator.get_next()))
                build()
            """
        ),
        contract="resampled",
        shapes=("crlf", "tabs"),
    ),
    offers(
        "a function from elsewhere is called in the loop",
        script(
            """
            tf.set_random_seed(1)
            for step in range(10):
                show(sess.run(iterator.get_next()))
            """,
            before="from views import show",
        ),
        contract="resampled",
    ),
    offers(
        "a loop in a function that anybody may call",
        script(
            """
            tf.set_random_seed(1)
            weights = tf.random_normal([3])

            def train():
                for step in range(10):
                    print(sess.run(iterator.get_next()))
            """
        ),
        contract="resampled",
        shapes=("crlf", "tabs"),
    ),
    offers(
        "a shuffled dataset made after the loop",
        script(
            """
            tf.set_random_seed(1)
            for step in range(10):
                print(sess.run(iterator.get_next()))
            other = dataset.shuffle(10)
            """
        ),
        contract="resampled",
    ),
)


test_rewritten = bench(
    HoistGetNext,
    rewrites(
        "unpacked, then run",
        script(
            """
            for step in range(10):
                x, y = iterator.get_next()
                x_value, y_value = sess.run([x, y])
                print(x_value, y_value)
            """
        ),
        script(
            """
            x, y = iterator.get_next()
            for step in range(10):
                x_value, y_value = sess.run([x, y])
                print(x_value, y_value)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "fetched where it is made",
        script(
            """
            for step in range(10):
                print(sess.run(iterator.get_next()))
            """
        ),
        script(
            """
            next_element = iterator.get_next()
            for step in range(10):
                print(sess.run(next_element))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "beside other fetches, in tuples, dicts and parts",
        script(
            """
            for step in range(10):
                print(sess.run((train_op, {'batch': iterator.get_next()['image']}), feed_dict=feed))
            """
        ),
        script(
            """
            next_element = iterator.get_next()
            for step in range(10):
                print(sess.run((train_op, {'batch': next_element['image']}), feed_dict=feed))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "evaluated in the default session",
        script(
            """
            with tf.Session():
                for step in range(10):
                    print(iterator.get_next().eval())
            """
        ),
        script(
            """
            with tf.Session():
                next_element = iterator.get_next()
                for step in range(10):
                    print(next_element.eval())
            """
        ),
        contract="exact",
    ),
    rewrites(
        "epochs, an initializer, and the end of the data",
        script(
            """
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())

                # All epochs.
                for epoch in range(3):
                    sess.run(iterator.initializer)
                    while True:
                        try:
                            # The next batch.
                            images, labels = iterator.get_next()  # two tensors
                            batch = sess.run([images, labels])
                        except tf.errors.OutOfRangeError:
                            break
            """
        ),
        script(
            """
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())

                # The next batch.
                # two tensors
                images, labels = iterator.get_next()
                # All epochs.
                for epoch in range(3):
                    sess.run(iterator.initializer)
                    while True:
                        try:
                            batch = sess.run([images, labels])
                        except tf.errors.OutOfRangeError:
                            break
            """
        ),
        contract="exact",
    ),
    rewrites(
        "an iterator of each epoch leaves the loop over its batches",
        script(
            """
            for epoch in range(3):
                iterator = tf.data.make_one_shot_iterator(dataset)
                for step in range(10):
                    print(sess.run(iterator.get_next()))
            """
        ),
        script(
            """
            for epoch in range(3):
                iterator = tf.data.make_one_shot_iterator(dataset)
                next_element = iterator.get_next()
                for step in range(10):
                    print(sess.run(next_element))
            """
        ),
        contract="exact",
        refused=("rebound-in-loop",),
    ),
    rewrites(
        "not out of a with block",
        script(
            """
            for trial in range(3):
                with tf.Session() as sess:
                    for step in range(10):
                        print(sess.run(iterator.get_next()))
            """
        ),
        script(
            """
            for trial in range(3):
                with tf.Session() as sess:
                    next_element = iterator.get_next()
                    for step in range(10):
                        print(sess.run(next_element))
            """
        ),
        contract="exact",
        refused=("scope-in-loop",),
    ),
    rewrites(
        "two calls in a turn keep an op each",
        script(
            """
            for step in range(10):
                a = iterator.get_next()
                b = iterator.get_next()
                second = sess.run(b)
                first = sess.run(a)
                print(first, second, sess.run(iterator.get_next()))
            """
        ),
        script(
            """
            a = iterator.get_next()
            b = iterator.get_next()
            next_element = iterator.get_next()
            for step in range(10):
                second = sess.run(b)
                first = sess.run(a)
                print(first, second, sess.run(next_element))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "one name for two elements",
        script(
            """
            for step in range(10):
                x = iterator.get_next()
                print(sess.run(x))
                x = iterator.get_next()
                print(sess.run(x))
            """
        ),
        script(
            """
            next_element = iterator.get_next()
            next_element_2 = iterator.get_next()
            for step in range(10):
                x = next_element
                print(sess.run(x))
                x = next_element_2
                print(sess.run(x))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "the name becomes the value",
        script(
            """
            for step in range(10):
                x = iterator.get_next()
                x = sess.run(x)
                print(x.sum())
            """
        ),
        script(
            """
            next_element = iterator.get_next()
            for step in range(10):
                x = next_element
                x = sess.run(x)
                print(x.sum())
            """
        ),
        contract="exact",
    ),
    rewrites(
        "fetched after the loop as well, which may make no turn",
        script(
            """
            for step in range(steps):
                x = iterator.get_next()
                print(sess.run(x))
            print(sess.run(x))
            """,
            before="from settings import steps",
        ),
        script(
            """
            next_element = iterator.get_next()
            for step in range(steps):
                x = next_element
                print(sess.run(x))
            print(sess.run(x))
            """,
            before="from settings import steps",
        ),
        contract="exact",
    ),
    rewrites(
        "two loops with the same name",
        script(
            """
            for step in range(10):
                x = iterator.get_next()
                print(sess.run(x))
            for step in range(10):
                x = iterator.get_next()
                print(sess.run(x))
            """
        ),
        script(
            """
            x = iterator.get_next()
            for step in range(10):
                print(sess.run(x))
            x = iterator.get_next()
            for step in range(10):
                print(sess.run(x))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "training and validation",
        script(
            """
            train_iterator = tf.data.make_initializable_iterator(dataset)
            val_iterator = tf.data.make_one_shot_iterator(dataset)
            for step in range(100):
                print(sess.run([train_op, train_iterator.get_next()]))
                if step % 10 == 0:
                    print(sess.run(val_iterator.get_next()))
            """
        ),
        script(
            """
            train_iterator = tf.data.make_initializable_iterator(dataset)
            val_iterator = tf.data.make_one_shot_iterator(dataset)
            next_train_element = train_iterator.get_next()
            next_val_element = val_iterator.get_next()
            for step in range(100):
                print(sess.run([train_op, next_train_element]))
                if step % 10 == 0:
                    print(sess.run(next_val_element))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "names that are taken",
        script(
            """
            next_element = 3
            for step in range(10):
                print(sess.run(iterator.get_next()), next_element)
            """
        ),
        script(
            """
            next_element = 3
            next_element_2 = iterator.get_next()
            for step in range(10):
                print(sess.run(next_element_2), next_element)
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a reinitializable iterator, a feedable one, and one by either way",
        script(
            """
            iterator = tf.data.Iterator.from_structure(types, shapes)
            handle = tf.placeholder(tf.string, [])
            fed = tf.data.Iterator.from_string_handle(handle, types, shapes)
            if train:
                chosen = tf.data.make_one_shot_iterator(dataset)
            else:
                chosen = tf.data.make_initializable_iterator(dataset)
            for step in range(10):
                print(sess.run(iterator.get_next()))
                print(sess.run(fed.get_next(), feed_dict={handle: h}))
                print(sess.run(chosen.get_next(name='batch')))
            """,
            before="from settings import train, types, shapes, h",
        ),
        script(
            """
            iterator = tf.data.Iterator.from_structure(types, shapes)
            handle = tf.placeholder(tf.string, [])
            fed = tf.data.Iterator.from_string_handle(handle, types, shapes)
            if train:
                chosen = tf.data.make_one_shot_iterator(dataset)
            else:
                chosen = tf.data.make_initializable_iterator(dataset)
            next_element = iterator.get_next()
            next_fed_element = fed.get_next()
            next_chosen_element = chosen.get_next(name='batch')
            for step in range(10):
                print(sess.run(next_element))
                print(sess.run(next_fed_element, feed_dict={handle: h}))
                print(sess.run(next_chosen_element))
            """,
            before="from settings import train, types, shapes, h",
        ),
        contract="exact",
    ),
    rewrites(
        "an attribute that is set when the object is made",
        """
        import tensorflow as tf

        class Trainer(object):
            def __init__(self, dataset):
                self._build(dataset)
                self.sess = tf.Session()

            def _build(self, dataset):
                self.train_iterator = dataset.make_one_shot_iterator()

            def train(self):
                for step in range(10):
                    image = self.train_iterator.get_next()
                    value = self.sess.run(image)
        """,
        """
        import tensorflow as tf

        class Trainer(object):
            def __init__(self, dataset):
                self._build(dataset)
                self.sess = tf.Session()

            def _build(self, dataset):
                self.train_iterator = dataset.make_one_shot_iterator()

            def train(self):
                image = self.train_iterator.get_next()
                for step in range(10):
                    value = self.sess.run(image)
        """,
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "a parameter that all callers give an iterator for",
        script(
            """
            def train(sess, it):
                for step in range(10):
                    print(sess.run(it.get_next()))

            train(sess, iterator)
            """
        ),
        script(
            """
            def train(sess, it):
                next_element = it.get_next()
                for step in range(10):
                    print(sess.run(next_element))

            train(sess, iterator)
            """
        ),
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "what a function of the file returns",
        script(
            """
            def make():
                it = tf.compat.v1.data.make_initializable_iterator(dataset)
                return it, it.initializer

            it, start = make()
            sess.run(start)
            while True:
                print(sess.run(it.get_next()))
            """
        ),
        script(
            """
            def make():
                it = tf.compat.v1.data.make_initializable_iterator(dataset)
                return it, it.initializer

            it, start = make()
            sess.run(start)
            next_element = it.get_next()
            while True:
                print(sess.run(next_element))
            """
        ),
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "the test of a loop, and a list of runs",
        script(
            """
            while sess.run(iterator.get_next())[0] < 3:
                print('on')
            values = [sess.run(iterator.get_next()) for _ in range(3)]
            """
        ),
        script(
            """
            next_element = iterator.get_next()
            while sess.run(next_element)[0] < 3:
                print('on')
            next_element_2 = iterator.get_next()
            values = [sess.run(next_element_2) for _ in range(3)]
            """
        ),
        contract="exact",
    ),
    rewrites(
        "in the test of an elif",
        script(
            """
            if done:
                pass
            elif any([sess.run(iterator.get_next()) for _ in range(3)]):
                done = True
            """,
            before="done = False",
        ),
        script(
            """
            next_element = iterator.get_next()
            if done:
                pass
            elif any([sess.run(next_element) for _ in range(3)]):
                done = True
            """,
            before="done = False",
        ),
        contract="exact",
    ),
    rewrites(
        "a call over several lines",
        script(
            """
            for step in range(10):
                (x,
                 y) = iterator.get_next(
                    name='batch')  # of two
                print(sess.run([x, y]))
            """
        ),
        script(
            """
            next_element = iterator.get_next(name='batch')
            for step in range(10):
                (x,
                 y) = next_element  # of two
                print(sess.run([x, y]))
            """
        ),
        contract="exact",
    ),
    rewrites(
        "a seed, and all random ops made before the loop",
        script(
            """
            tf.set_random_seed(1)
            weights = tf.random_normal([3])
            for step in range(10):
                value = sess.run(iterator.get_next())
                print(value.mean(), 'of step %d' % step)
            saver = np.zeros(3)
            """
        ),
        script(
            """
            tf.set_random_seed(1)
            weights = tf.random_normal([3])
            next_element = iterator.get_next()
            for step in range(10):
                value = sess.run(next_element)
                print(value.mean(), 'of step %d' % step)
            saver = np.zeros(3)
            """
        ),
        contract="exact",
        shapes=("main", "crlf", "tabs"),
    ),
    rewrites(
        "a seed, and ops with seeds of their own after the loop",
        script(
            """
            tf.set_random_seed(1)
            for step in range(10):
                print(sess.run(iterator.get_next()))
            noise = tf.random_normal([3], seed=4)
            """
        ),
        script(
            """
            tf.set_random_seed(1)
            next_element = iterator.get_next()
            for step in range(10):
                print(sess.run(next_element))
            noise = tf.random_normal([3], seed=4)
            """
        ),
        contract="exact",
        shapes=("main", "crlf", "tabs"),
    ),
    rewrites(
        "random ops made after the loop, for TensorFlow 2.21",
        script(
            """
            tf.set_random_seed(1)
            for step in range(10):
                print(sess.run(iterator.get_next()))
            noise = tf.random_normal([3])
            """
        ),
        script(
            """
            tf.set_random_seed(1)
            next_element = iterator.get_next()
            for step in range(10):
                print(sess.run(next_element))
            noise = tf.random_normal([3])
            """
        ),
        contract="exact",
        target_tf=(2, 21),
    ),
    rewrites(
        "a graph that is closed afterwards, and tensors by other names",
        script(
            """
            loss = sess.graph.get_tensor_by_name('loss:0')
            for step in range(10):
                print(sess.run([loss, iterator.get_next()]))
            sess.graph.finalize()
            """
        ),
        script(
            """
            loss = sess.graph.get_tensor_by_name('loss:0')
            next_element = iterator.get_next()
            for step in range(10):
                print(sess.run([loss, next_element]))
            sess.graph.finalize()
            """
        ),
        contract="exact",
    ),
)
