"""TFR208, what is left alone first."""

from rulebench import Case, bench, leaves_alone, reports
from tfrewrite.codemods.tensor_range import TensorRange

HEAD = """
            import tensorflow as tf

            weights = tf.Variable(tf.ones([2, 2]))
            TURNS = 100
            FEW = 5
"""


def alone(name: str, loop: str, head: str = "@tf.function") -> Case:
    return leaves_alone(
        name,
        HEAD
        + f"""
            {head}
            def step(x):
                {loop}
                    x = tf.matmul(x, weights)
                return x
        """,
    )


def told(name: str, loop: str, copies: str) -> Case:
    return reports(
        name,
        HEAD
        + f"""
            @tf.function
            def step(x):
                {loop}
                    x = tf.matmul(x, weights)
                return x
        """,
        message=f"into {copies} copies",
    )


test_tensor_range = bench(
    TensorRange,
    # Left alone
    alone("tf.range", "for i in tf.range(1000):"),
    alone("a few turns", "for i in range(10):"),
    alone("a few turns, under a name", "for i in range(FEW):"),
    alone("turns that are not known", "for i in range(len(x.shape)):"),
    alone("a tensor's size, which AutoGraph sees", "for i in range(tf.shape(x)[0]):"),
    alone("not compiled", "for i in range(1000):", head="@tf.custom_gradient"),
    alone("no turns", "for i in range(100, 0):"),
    leaves_alone(
        "Python only",
        HEAD
        + """
            @tf.function
            def step(x):
                names = []
                for i in range(1000):
                    names.append(str(i))
                return x
        """,
    ),
    leaves_alone(
        "a layer for each turn",
        """
            import tensorflow as tf

            layers = [tf.keras.layers.Dense(2) for _ in range(100)]

            @tf.function
            def step(x):
                for i in range(100):
                    x = layers[i](x)
                return x
        """,
    ),
    leaves_alone(
        "it runs as Python",
        HEAD
        + """
            tf.config.run_functions_eagerly(True)

            @tf.function
            def step(x):
                for i in range(1000):
                    x = tf.matmul(x, weights)
                return x
        """,
    ),
    leaves_alone(
        "in the loop that calls it",
        HEAD
        + """
            @tf.function
            def step(x):
                return tf.matmul(x, weights)

            for i in range(1000):
                step(weights)
        """,
    ),
    # Reports
    told("a number", "for i in range(1000):", "1,000"),
    told("from and to", "for i in range(10, 110, 2):", "50"),
    told("a name", "for i in range(TURNS - 1):", "99"),
    reports(
        "in a helper and by two loops",
        """
            import tensorflow as tf


            class Solver:
                def __init__(self):
                    self.turns = 20

                @tf.function
                def step(self, x):
                    return self.inner(x)

                def inner(self, x):
                    for i in range(self.turns):
                        for j in range(5):
                            x = tf.square(x)
                    return x
        """,
        message="into 100 copies",
        shapes=(),
    ),
)
