"""The pipelines of tf.data: what they are made of, who consumes them, what their functions do."""
