"""Which loops a trace unrolls, and into how many copies."""

from analysis_helpers import facts


def copies(text: str) -> list[int]:
    found = facts(text)
    return [
        unrolled.copies
        for one in found.compiled_functions.all
        for unrolled in found.unrolled_loops.of(one)
    ]


def test_copies_are_counted_through_nested_loops() -> None:
    found = copies("""
        import tensorflow as tf

        SIZE = 4

        @tf.function
        def step(x):
            for i in range(SIZE * 2):
                for j in range(1, 10, 3):
                    x = tf.square(x)
            for i in range(unknown()):
                x = tf.square(x)
            for i in tf.range(3):
                x = tf.square(x)
            return x
    """)
    assert sorted(found) == [8, 24]


def test_a_loop_without_ops_is_no_unrolled_one() -> None:
    assert not copies("""
        import tensorflow as tf

        @tf.function
        def step(x):
            names = []
            for i in range(100):
                names.append(str(i).upper())
            return x
    """)
