"""Word vectors by skip-gram with noise-contrastive estimation, on a made-up corpus.

In six steps: the words, the dictionary, batches, the graph, training, the nearest neighbours.
"""

from __future__ import absolute_import, division, print_function

import collections
import random

import numpy as np
import tensorflow as tf

random.seed(10)
np.random.seed(10)

# Step 1: Make the words. Those of a kind stand in the same places of a sentence.
kinds = {
    "animal": ["horse", "cow", "sheep", "goat", "pig"],
    "food": ["hay", "corn", "grass", "oats"],
    "place": ["barn", "field", "yard"],
    "verb": ["eats", "finds", "wants"],
}
words = []
for _ in range(1500):
    words += ["the", random.choice(kinds["animal"]), random.choice(kinds["verb"])]
    words += [random.choice(kinds["food"]), "in", "the", random.choice(kinds["place"])]
print("Data size", len(words))

# Step 2: Build the dictionary and replace rare words with UNK token.
vocabulary_size = 18


def build_dataset(words):
    count = [["UNK", -1]]
    count.extend(collections.Counter(words).most_common(vocabulary_size - 1))
    dictionary = dict()
    for word, _ in count:
        dictionary[word] = len(dictionary)
    data = list()
    unk_count = 0
    for word in words:
        index = dictionary.get(word, 0)
        if index == 0:
            unk_count += 1
        data.append(index)
    count[0][1] = unk_count
    reverse_dictionary = dict(zip(dictionary.values(), dictionary.keys()))
    return data, count, dictionary, reverse_dictionary


data, count, dictionary, reverse_dictionary = build_dataset(words)
data_index = 0


# Step 3: Function to generate a training batch for the skip-gram model.
def generate_batch(batch_size, num_skips, skip_window):
    global data_index
    batch = np.ndarray(shape=(batch_size), dtype=np.int32)
    labels = np.ndarray(shape=(batch_size, 1), dtype=np.int32)
    span = 2 * skip_window + 1  # [ skip_window target skip_window ]
    buffer = collections.deque(maxlen=span)
    for _ in range(span):
        buffer.append(data[data_index])
        data_index = (data_index + 1) % len(data)
    for i in range(batch_size // num_skips):
        context = [w for w in range(span) if w != skip_window]
        for j, target in enumerate(random.sample(context, num_skips)):
            batch[i * num_skips + j] = buffer[skip_window]
            labels[i * num_skips + j, 0] = buffer[target]
        buffer.append(data[data_index])
        data_index = (data_index + 1) % len(data)
    # Backtrack a little bit to avoid skipping words in the end of a batch
    data_index = (data_index + len(data) - span) % len(data)
    return batch, labels


# Step 4: Build and train a skip-gram model.
batch_size = 64
embedding_size = 16  # Dimension of the embedding vector.
skip_window = 1  # How many words to consider left and right.
num_skips = 2  # How many times to reuse an input to generate a label.
valid_examples = np.array([dictionary[word] for word in ("horse", "hay", "barn", "eats")])
num_sampled = 6  # Number of negative examples to sample.

graph = tf.Graph()
with graph.as_default():
    tf.set_random_seed(10)
    train_inputs = tf.placeholder(tf.int32, shape=[batch_size])
    train_labels = tf.placeholder(tf.int32, shape=[batch_size, 1])
    valid_dataset = tf.constant(valid_examples, dtype=tf.int32)

    embeddings = tf.Variable(tf.random_uniform([vocabulary_size, embedding_size], -1.0, 1.0))
    embed = tf.nn.embedding_lookup(embeddings, train_inputs)
    nce_weights = tf.Variable(
        tf.truncated_normal([vocabulary_size, embedding_size], stddev=1.0 / embedding_size ** 0.5)
    )
    nce_biases = tf.Variable(tf.zeros([vocabulary_size]))

    # tf.nce_loss draws a new sample of the negative labels each time we evaluate the loss.
    loss = tf.reduce_mean(
        tf.nn.nce_loss(
            weights=nce_weights,
            biases=nce_biases,
            labels=train_labels,
            inputs=embed,
            num_sampled=num_sampled,
            num_classes=vocabulary_size,
        )
    )
    optimizer = tf.train.GradientDescentOptimizer(1.0).minimize(loss)

    # Cosine similarity between the valid examples and all embeddings.
    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
    normalized_embeddings = embeddings / norm
    valid_embeddings = tf.nn.embedding_lookup(normalized_embeddings, valid_dataset)
    similarity = tf.matmul(valid_embeddings, normalized_embeddings, transpose_b=True)
    init = tf.global_variables_initializer()

# Step 5: Begin training.
num_steps = 150

with tf.Session(graph=graph) as session:
    init.run()
    print("Initialized")

    average_loss = 0
    for step in range(num_steps):
        batch_inputs, batch_labels = generate_batch(batch_size, num_skips, skip_window)
        feed_dict = {train_inputs: batch_inputs, train_labels: batch_labels}

        session.run(optimizer, feed_dict=feed_dict)
        average_loss += session.run(loss, feed_dict=feed_dict)

        if step % 25 == 24:
            print("Average loss at step", step, ":", average_loss / 25)
            average_loss = 0

        # Note that this is expensive (~20% slowdown if computed every 500 steps)
        if step % 50 == 49:
            sim = similarity.eval()
            for i in range(len(valid_examples)):
                valid_word = reverse_dictionary[valid_examples[i]]
                top_k = 4  # number of nearest neighbors
                nearest = (-sim[i, :]).argsort()[1 : top_k + 1]
                close_words = [reverse_dictionary[index] for index in nearest]
                print("Nearest to %s: %s" % (valid_word, ", ".join(close_words)))
    final_embeddings = normalized_embeddings.eval()

# Step 6: What has been learned.
print("Sum of the final embeddings", float(np.abs(final_embeddings).sum()))
