"""Stands in for well-known data sets, so that a script runs without a network.

`install()` is called before the script runs; it imports no TensorFlow. From then on these give data
that are made up, of the true shapes, types and ranges, whatever way they are imported:

- `load_data()` of `keras.datasets` and `tf.keras.datasets`, standalone Keras and tf-keras too:
  mnist, fashion_mnist, cifar10, cifar100, imdb, reuters, boston_housing and california_housing, as
  far as the Keras found there has them and with the arguments that it takes there;
  `get_word_index()` of imdb and reuters;
- `tensorflow.examples.tutorials.mnist` with `input_data` and `mnist`, also where TensorFlow has
  none;
- `read_data_sets` and `load_mnist` of `tensorflow.contrib.learn`'s mnist, and with it
  `load_dataset("mnist")`, where contrib exists. Its `load_iris` and `load_boston` read files that
  come with TensorFlow, so they are left as they are.

Not covered, and so still in need of a network or of the script's own files: `keras.utils.get_file`
and every other download, pretrained weights (`keras.applications`), contrib's dbpedia,
`tensorflow_datasets`, an `input_data.py` that lies beside the script, a read of the files that
`read_data_sets` would have put in its folder, and data sets for which another module took a
reference to the function before `install()`.

The data can be learned but not perfectly: classes are patterns in noise, and a few examples show
the pattern of another class. They are the same at each call, and in each version of numpy. Making
them draws nothing from numpy's global stream and sets no seed, where older Keras seeds it. What
does touch that stream is what a script uses it for: `next_batch` shuffles with `numpy.random`, as
it always did, and `read_data_sets(seed=...)` seeds it when a seed is given.
"""

import collections
import dis
import functools
import importlib.machinery
import inspect
import math
import re
import sys
import zlib

import numpy as np

_CHUNK = 4096
"""How many examples are made at a time: temporaries stay small."""
_STRAY = 0.03
"""The part of the examples that look like another class than their label says."""

_settings = {"fraction": 1.0}
_served = set()  # type: set[str]


def install(fraction=1.0):
    """Puts the stand-ins in place. Below 1, `fraction` makes the data sets smaller."""
    if not 0 < fraction <= 1:
        raise ValueError("the fraction has to be above 0 and at most 1, not {}".format(fraction))
    _settings["fraction"] = float(fraction)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    for name, module in list(sys.modules.items()):
        if _KERAS.search(name) or _CONTRIB.search(name) or name in _OWN:
            _replace(name, module)


def served():
    """The names of the data sets that were handed out so far."""
    return sorted(_served)


def _scaled(count, least):
    """How many examples there are of `count`."""
    return max(min(count, least), int(round(count * _settings["fraction"])))


def _stream(name):
    return np.random.RandomState(zlib.crc32(name.encode()) & 0x7FFFFFFF)


def _order(count, seed):
    """The order in which Keras hands out `count` examples; without a seed it is fixed here."""
    indices = np.arange(count)
    np.random.RandomState(0 if seed is None else seed).shuffle(indices)
    return indices


# Images.

_Picture = collections.namedtuple("_Picture", "classes side channels train test dark")
_PICTURES = {
    "mnist": _Picture(10, 28, 1, 60000, 10000, True),
    "fashion_mnist": _Picture(10, 28, 1, 60000, 10000, True),
    "cifar10": _Picture(10, 32, 3, 50000, 10000, False),
    "cifar100": _Picture(100, 32, 3, 50000, 10000, False),
}
_CELL = 4
_MIXES = (0.55, 0.65, 0.8)
_COMPANY = 8
_NOISE = 64
_POOL = 1 << 22


def _images(name):
    """((images, labels), (images, labels)); an image is a row of bytes: channel, row, column."""
    kind = _PICTURES[name]
    stream = _stream(name)
    patterns = _patterns(stream, kind)
    tones = np.arange(256)
    if kind.dark:
        # Most of such an image is exactly black.
        tones = np.clip((tones - 110) * 255 // 140, 0, 255)
    tones = tones.astype(np.uint8)
    noise = stream.randint(0, _NOISE, _POOL + patterns.shape[-1], dtype=np.uint8)
    return tuple(
        _draw_images(stream, patterns, noise, tones if kind.dark else None, count)
        for count in (_scaled(kind.train, 2 * kind.classes), _scaled(kind.test, 2 * kind.classes))
    )


def _patterns(stream, kind):
    """What the images of a class show, without noise: its own picture mixed with another one."""
    cells = kind.side // _CELL
    grid = stream.random_sample((kind.classes, kind.channels, cells, cells))
    if kind.dark:
        lit = np.zeros(grid.shape, dtype=bool)
        inner = slice(1, cells - 1)
        lit[:, :, inner, inner] = grid[:, :, inner, inner] < 0.5
        grid = np.where(lit, 140.0 + 100.0 * grid, 40.0 * grid)
    else:
        grid = 191.0 * grid
    whole = grid.repeat(_CELL, axis=2).repeat(_CELL, axis=3).reshape(kind.classes, -1)
    patterns = [
        own * whole + (1 - own) * whole[stream.permutation(kind.classes)]
        for own in _MIXES
        for _ in range(_COMPANY)
    ]
    return np.stack(patterns, axis=1).astype(np.uint8)


def _draw_images(stream, patterns, noise, tones, count):
    classes, kinds, size = patterns.shape
    labels = stream.permutation(count) % classes
    shown = _with_strays(stream, labels, classes)
    rows = shown * kinds + stream.randint(0, kinds, count)
    # A stretch of one pool of noise for each image: drawing all of it anew takes seconds.
    places = stream.randint(0, _POOL, count)
    stretches = np.lib.stride_tricks.as_strided(noise, (_POOL, size), (1, 1))
    flat = patterns.reshape(classes * kinds, size)
    images = np.empty((count, size), dtype=np.uint8)
    for start in range(0, count, _CHUNK):
        part = slice(start, start + _CHUNK)
        made = flat[rows[part]]
        made += stretches[places[part]]
        images[part] = made if tones is None else tones[made]
    return images, labels


def _with_strays(stream, labels, classes):
    shown = labels.copy()
    strays = np.flatnonzero(stream.random_sample(len(labels)) < _STRAY)
    shown[strays] = stream.randint(0, classes, len(strays))
    return shown


def _digits(name):
    (x_train, y_train), (x_test, y_test) = _images(name)
    return (
        (x_train.reshape(-1, 28, 28), y_train.astype(np.uint8)),
        (x_test.reshape(-1, 28, 28), y_test.astype(np.uint8)),
    )


def _load_digits(name):
    return lambda original, arguments: _digits(name)


def _load_cifar10(original, arguments):
    return tuple(
        (_colour(images, original), labels.astype(np.uint8).reshape(-1, 1))
        for images, labels in _images("cifar10")
    )


def _load_cifar100(original, arguments):
    mode = arguments["label_mode"]
    if mode not in ("fine", "coarse"):
        raise ValueError('label_mode is "fine" or "coarse", not {!r}'.format(mode))
    return tuple(
        (_colour(images, original), (labels // (1 if mode == "fine" else 5)).reshape(-1, 1))
        for images, labels in _images("cifar100")
    )


def _colour(images, original):
    """As the Keras that it is for has its images; a view for channels last, as there."""
    images = images.reshape(-1, 3, 32, 32)
    return images if _channels_first(original) else images.transpose(0, 2, 3, 1)


def _channels_first(original):
    names = getattr(original, "__globals__", {})
    for name in ("K", "backend"):
        ask = getattr(names.get(name), "image_data_format", None)
        if ask is not None:
            return ask() == "channels_first"
    return False


# Texts.

_Text = collections.namedtuple("_Text", "classes words median spread longest marks often sizes")
_TEXTS = {
    "imdb": _Text(2, 88584, 177, 0.75, 2493, 60, 24, (25000, 25000)),
    "reuters": _Text(46, 30979, 92, 0.94, 2375, 12, 32, (11228,)),
}
_TABLE = 1 << 20
_FIRST_MARK = 30
_COMMON = (
    "the and a of to is in it i this that was as for with but on not you are his have he be at "
    "one by an they all who from like so or just about if out has what some can when more she"
)
_PRAISE = (
    "great good excellent wonderful best love perfect beautiful amazing brilliant superb favorite "
    "enjoyed fantastic loved touching terrific moving charming delightful"
)
_BLAME = (
    "bad worst boring awful terrible waste poor stupid horrible dull worse lame annoying crap "
    "ridiculous mess pointless disappointing weak unfunny"
)

_Sentences = collections.namedtuple("_Sentences", "tokens lengths labels")


def _sentences(name):
    """Words by rank from 1, all sentences in one array. Some words go with one class."""
    kind = _TEXTS[name]
    stream = _stream(name)
    labels = np.concatenate([_topics(stream, name, size) for size in kind.sizes])
    shown = _with_strays(stream, labels, kind.classes)
    spread = np.exp(kind.spread * stream.standard_normal(len(labels)))
    lengths = np.clip(kind.median * spread, 10, kind.longest).astype(np.int64)
    ranks = _rank_table(kind.words)
    marks = _marks(name)
    ends = np.cumsum(lengths)
    tokens = np.empty(ends[-1], dtype=np.int32)
    for start in range(0, len(labels), _CHUNK):
        part = slice(start, start + _CHUNK)
        span = slice(ends[start] - lengths[start], ends[part][-1])
        drawn = ranks[stream.randint(0, _TABLE, span.stop - span.start, dtype=np.uint32)]
        marked = np.flatnonzero(stream.randint(0, 256, len(drawn), dtype=np.uint8) < kind.often)
        of_class = np.repeat(shown[part], lengths[part])[marked]
        of_class = np.where(
            stream.random_sample(len(marked)) < 0.6,
            of_class,
            stream.randint(0, kind.classes, len(marked)),
        )
        drawn[marked] = marks[of_class, stream.randint(0, kind.marks, len(marked))]
        tokens[span] = drawn
    return _Sentences(tokens, lengths, labels)


def _topics(stream, name, size):
    count = _scaled(size, 400)
    if name == "imdb":
        return stream.permutation(count) % 2
    # As in the original, two topics make up more than half of all.
    share = 1.0 / (np.arange(46) + 1.5) + 0.05
    share[:2] *= 5
    share = np.cumsum(share) / share.sum()
    names = np.array([3, 4] + [topic for topic in range(46) if topic not in (3, 4)])
    topics = names[np.searchsorted(share[:-1], stream.random_sample(count))]
    topics[:46] = np.arange(46)
    return topics


def _rank_table(words):
    """Word ranks, each as often as it is to be drawn: about one over its rank."""
    share = np.cumsum(1.0 / (np.arange(words) + 3.0))
    table = 1 + np.searchsorted(share, (np.arange(_TABLE) + 0.5) / _TABLE * share[-1])
    table[-1] = words
    return table.astype(np.int32)


def _marks(name):
    """For each class the ranks of the words that it prefers; all of them are frequent words."""
    kind = _TEXTS[name]
    ranks = _FIRST_MARK + np.arange(kind.classes * kind.marks, dtype=np.int32)
    return ranks.reshape(kind.marks, kind.classes).T


def _words(name):
    """The dictionary of `get_word_index`: words by rank, common English ones first."""
    kind = _TEXTS[name]
    of_rank = {}
    if name == "imdb":
        for ranks, words in zip(_marks(name), (_BLAME, _PRAISE)):
            of_rank.update(zip(ranks.tolist(), words.split()))
    common = iter(_COMMON.split())
    for rank in range(1, kind.words + 1):
        if rank not in of_rank:
            of_rank[rank] = next(common, None) or _made_up(rank)
    return {word: rank for rank, word in of_rank.items()}


def _made_up(rank):
    """A word that no language has, another one for each rank."""
    syllables = []
    for _ in range(4):
        rank, digit = divmod(rank, 80)
        syllables.append("bdfgklmnprstvwxz"[digit // 5] + "aeiou"[digit % 5])
    return "".join(syllables)


def _load_imdb(original, arguments):
    sentences = _sentences("imdb")
    train = _scaled(_TEXTS["imdb"].sizes[0], 400)
    shuffler = np.random.RandomState(0 if arguments["seed"] is None else arguments["seed"])
    first, second = np.arange(train), np.arange(train, len(sentences.labels))
    shuffler.shuffle(first)
    shuffler.shuffle(second)
    lists, kept = _encoded(sentences, arguments)
    first, second = first[kept[first]], second[kept[second]]
    if _filters_apart(original):
        if not len(first) or not len(second):
            raise _nothing_kept(arguments)
        return _part(lists, sentences, first), _part(lists, sentences, second)
    # Older Keras cuts where it would without `maxlen`, so that the first part gets more.
    both = np.concatenate([first, second])
    return _part(lists, sentences, both[:train]), _part(lists, sentences, both[train:])


def _filters_apart(original):
    """Whether this Keras applies `maxlen` to the two parts of imdb one by one."""
    names = ("_remove_long_seq", "remove_long_seq")
    return sum(step.argval in names for step in dis.get_instructions(original)) > 1


def _load_reuters(original, arguments):
    sentences = _sentences("reuters")
    order = _order(len(sentences.labels), arguments["seed"])
    lists, kept = _encoded(sentences, arguments)
    order = order[kept[order]]
    cut = int(len(order) * (1 - arguments["test_split"]))
    return _part(lists, sentences, order[:cut]), _part(lists, sentences, order[cut:])


def _part(lists, sentences, indices):
    chosen = np.empty(len(indices), dtype=object)
    for place, index in enumerate(indices.tolist()):
        chosen[place] = lists[index]
    return chosen, sentences.labels[indices]


def _nothing_kept(arguments):
    return ValueError(
        "no sequence is shorter than maxlen={}: increase it".format(arguments["maxlen"])
    )


def _encoded(sentences, arguments):
    """The sentences as lists of numbers, in the order they were made in, and which are kept."""
    start, first = arguments["start_char"], arguments["index_from"] or 0
    tokens, lengths = sentences.tokens, sentences.lengths
    if start is None:
        tokens = tokens + np.int32(first)
    else:
        lengths = lengths + 1
        begins = np.cumsum(lengths) - lengths
        inner = np.ones(lengths.sum(), dtype=bool)
        inner[begins] = False
        longer = np.full(len(inner), start, dtype=np.int32)
        longer[inner] = tokens + np.int32(first)
        tokens = longer
    kept = np.ones(len(lengths), dtype=bool)
    if arguments["maxlen"]:
        kept = lengths < arguments["maxlen"]
        if not kept.any():
            raise _nothing_kept(arguments)
        tokens = tokens[np.repeat(kept, lengths)]
        lengths = np.where(kept, lengths, 0)
    limit = arguments["num_words"] or tokens.max()
    known = (tokens >= arguments["skip_top"]) & (tokens < limit)
    if arguments["oov_char"] is None:
        ends = np.concatenate([[0], np.cumsum(lengths)])
        lengths = np.diff(np.concatenate([[0], np.cumsum(known)])[ends])
        tokens = tokens[known]
    else:
        tokens = np.where(known, tokens, np.int32(arguments["oov_char"]))
    return _lists(tokens, lengths), kept


def _lists(tokens, lengths):
    """One list for each length. Equal numbers are one object, which saves hundreds of MB."""
    if not len(tokens):
        return [[] for _ in lengths]
    low = int(tokens.min())
    numbers = np.arange(low, int(tokens.max()) + 1).astype(object)
    ends = np.cumsum(lengths)
    lists = []
    for start in range(0, len(lengths), _CHUNK):
        stops = ends[start : start + _CHUNK]
        begin = ends[start] - lengths[start]
        row = numbers[tokens[begin : stops[-1]] - low].tolist()
        place = 0
        for stop in (stops - begin).tolist():
            lists.append(row[place:stop])
            place = stop
    return lists


# Houses.

_Column = collections.namedtuple("_Column", "low high power link decimals")
_BOSTON = (
    _Column(0.00632, 88.9762, 6, -0.5, 5),
    _Column(0.0, 100.0, 4, 0.4, 1),
    _Column(0.46, 27.74, 1, -0.5, 2),
    _Column(0.0, 1.0, 4, 0.1, 0),
    _Column(0.385, 0.871, 2, -0.4, 3),
    _Column(3.561, 8.78, 1, 0.7, 3),
    _Column(2.9, 100.0, 1, -0.4, 1),
    _Column(1.1296, 12.1265, 2, 0.3, 4),
    _Column(1.0, 24.0, 2, -0.4, 0),
    _Column(187.0, 711.0, 1, -0.5, 0),
    _Column(12.6, 22.0, 1, -0.5, 1),
    _Column(0.32, 396.9, 1, 0.3, 2),
    _Column(1.73, 37.97, 1, -0.7, 2),
)
_CALIFORNIA = (
    _Column(-124.35, -114.31, 1, -0.2, 2),
    _Column(32.54, 41.95, 1, -0.2, 2),
    _Column(1.0, 52.0, 1, 0.2, 0),
    _Column(2.0, 39320.0, 6, 0.3, 0),
    _Column(1.0, 6445.0, 6, 0.2, 0),
    _Column(3.0, 35682.0, 6, 0.1, 0),
    _Column(1.0, 6082.0, 6, 0.2, 0),
    _Column(0.4999, 15.0001, 2, 0.8, 4),
)


def _houses(name, columns, count, low, high):
    """Columns and price follow, more or less, one hidden value of each house."""
    stream = _stream(name)
    hidden = stream.random_sample(count)
    features = []
    for column in columns:
        other = stream.random_sample(count)
        followed = hidden if column.link > 0 else 1.0 - hidden
        share = abs(column.link) * followed + (1 - abs(column.link)) * other
        value = column.low + (column.high - column.low) * share**column.power
        features.append(np.round(value, column.decimals))
    price = 0.8 * hidden * hidden + 0.2 * stream.random_sample(count)
    return np.stack(features, axis=1), np.round(low + (high - low) * price, 1)


def _load_boston(original, arguments):
    x, y = _houses("boston_housing", _BOSTON, _scaled(506, 60), 5.0, 50.0)
    return _split(x, y, arguments)


def _load_california(original, arguments):
    version = arguments["version"]
    if version not in ("small", "large"):
        raise ValueError('version is "small" or "large", not {!r}'.format(version))
    x, y = _houses("california_housing", _CALIFORNIA, _scaled(20640, 600), 14999.0, 500001.0)
    count = _scaled(600, 60) if version == "small" else len(x)
    return _split(x[:count].astype(np.float32), y[:count].astype(np.float32), arguments)


def _split(x, y, arguments):
    part = arguments["test_split"]
    if not 0 <= part < 1:
        raise ValueError("test_split has to be at least 0 and below 1, not {}".format(part))
    order = _order(len(x), arguments["seed"])
    cut = int(len(x) * (1 - part))
    first, second = order[:cut], order[cut:]
    return (x[first], y[first]), (x[second], y[second])


# The MNIST tutorial of TensorFlow 1.


Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


class DataSet(object):
    """Images with labels that are handed out in batches, epoch after epoch."""

    def __init__(
        self,
        images,
        labels,
        fake_data=False,
        one_hot=False,
        dtype="float32",
        reshape=True,
        seed=None,
    ):
        # The original also seeds without one, from the system: then no two runs would agree.
        if seed is not None:
            np.random.seed(seed)
        kind = _dtype_name(dtype)
        if kind not in ("uint8", "float32"):
            raise TypeError("images are uint8 or float32, not {!r}".format(dtype))
        if fake_data:
            self._num_examples = 10000
            self.one_hot = one_hot
        else:
            assert images.shape[0] == labels.shape[0], "there are {} images but {} labels".format(
                images.shape[0], labels.shape[0]
            )
            self._num_examples = images.shape[0]
            if reshape:
                assert images.shape[3] == 1, "only images of one channel can be made flat"
                images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
            if kind == "float32":
                images = images.astype(np.float32)
                images *= np.float32(1.0 / 255.0)
        self._images = images
        self._labels = labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self):
        return self._images

    @property
    def labels(self):
        return self._labels

    @property
    def num_examples(self):
        return self._num_examples

    @property
    def epochs_completed(self):
        return self._epochs_completed

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        """The next images and labels; one that spans two epochs has of both."""
        if fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            image = [1] * 784
            return [image for _ in range(batch_size)], [label for _ in range(batch_size)]
        start = self._index_in_epoch
        stop = start + batch_size
        if start == 0 and self._epochs_completed == 0 and shuffle:
            self._reorder()
        if stop <= self._num_examples:
            self._index_in_epoch = stop
            return self._images[start:stop], self._labels[start:stop]
        self._epochs_completed += 1
        self._index_in_epoch = stop - self._num_examples
        last_images = self._images[start : self._num_examples]
        last_labels = self._labels[start : self._num_examples]
        if shuffle:
            self._reorder()
        return (
            np.concatenate((last_images, self._images[: self._index_in_epoch]), axis=0),
            np.concatenate((last_labels, self._labels[: self._index_in_epoch]), axis=0),
        )

    def _reorder(self):
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images = self.images[order]
        self._labels = self.labels[order]


def _dtype_name(dtype):
    """`float32` for tf.float32, a reference to it, np.float32 and "float32"."""
    name = getattr(getattr(dtype, "base_dtype", dtype), "name", None)
    try:
        return name or np.dtype(dtype).name
    except TypeError:
        return str(dtype)


def dense_to_one_hot(labels_dense, num_classes):
    one_hot = np.zeros((len(labels_dense), num_classes))
    one_hot[np.arange(len(labels_dense)), np.ravel(labels_dense)] = 1
    return one_hot


def read_data_sets(
    train_dir,
    fake_data=False,
    one_hot=False,
    dtype="float32",
    reshape=True,
    validation_size=5000,
    seed=None,
    source_url="",
):
    """MNIST for training, validation and test. Nothing is written to `train_dir`."""
    options = {"dtype": dtype, "seed": seed}
    if fake_data:
        options.update(fake_data=True, one_hot=one_hot)
        return Datasets(*[DataSet([], [], **options) for _ in range(3)])
    if not 0 <= validation_size <= 60000:
        raise ValueError("validation_size is 0 to 60000, not {}".format(validation_size))
    _served.add("mnist")
    (train_images, train_labels), (test_images, test_labels) = (
        (images.reshape(-1, 28, 28, 1), dense_to_one_hot(labels, 10) if one_hot else labels)
        for images, labels in _digits("mnist")
    )
    cut = int(round(validation_size * len(train_images) / 60000.0))
    options["reshape"] = reshape
    train = DataSet(train_images[cut:], train_labels[cut:], **options)
    validation = DataSet(train_images[:cut], train_labels[:cut], **options)
    test = DataSet(test_images, test_labels, **options)
    return Datasets(train=train, validation=validation, test=test)


def load_mnist(train_dir="MNIST-data"):
    return read_data_sets(train_dir)


def _tensorflow():
    import tensorflow

    return getattr(getattr(tensorflow, "compat", None), "v1", tensorflow)


def inference(images, hidden1_units, hidden2_units):
    """The logits of the tutorial's network with two hidden layers."""
    tf = _tensorflow()
    layers = (("hidden1", hidden1_units), ("hidden2", hidden2_units), ("softmax_linear", 10))
    width, value = 784, images
    for name, units in layers:
        with tf.name_scope(name):
            start = tf.truncated_normal([width, units], stddev=1.0 / math.sqrt(float(width)))
            weights = tf.Variable(start, name="weights")
            biases = tf.Variable(tf.zeros([units]), name="biases")
            value = tf.matmul(value, weights) + biases
            if name != "softmax_linear":
                value = tf.nn.relu(value)
        width = units
    return value


def loss(logits, labels):
    tf = _tensorflow()
    labels = tf.cast(labels, tf.int64)
    return tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)


def training(loss, learning_rate):
    """The op of one step of gradient descent, with a summary of the loss and a global step."""
    tf = _tensorflow()
    tf.summary.scalar("loss", loss)
    optimizer = tf.train.GradientDescentOptimizer(learning_rate)
    global_step = tf.Variable(0, name="global_step", trainable=False)
    return optimizer.minimize(loss, global_step=global_step)


def evaluation(logits, labels):
    """How many of the labels are the first choice."""
    tf = _tensorflow()
    return tf.reduce_sum(tf.cast(tf.nn.in_top_k(logits, labels, 1), tf.int32))


# Putting it in place.

_LOADERS = {
    "mnist": _load_digits("mnist"),
    "fashion_mnist": _load_digits("fashion_mnist"),
    "cifar10": _load_cifar10,
    "cifar100": _load_cifar100,
    "imdb": _load_imdb,
    "reuters": _load_reuters,
    "boston_housing": _load_boston,
    "california_housing": _load_california,
}
_KERAS = re.compile(r"(?:^|\.)(?:tf_)?keras\.(?:\w+\.)*datasets\.(" + "|".join(_LOADERS) + r")$")
_CONTRIB = re.compile(r"(?:^|\.)contrib\.learn\.python\.learn\.datasets(?:\.mnist)?$")
_TUTORIAL = "tensorflow.examples.tutorials.mnist"
_OWN = {
    _TUTORIAL + ".input_data": {
        "DataSet": DataSet,
        "Datasets": Datasets,
        "dense_to_one_hot": dense_to_one_hot,
        "numpy": np,
        "read_data_sets": read_data_sets,
    },
    _TUTORIAL + ".mnist": {
        "IMAGE_PIXELS": 784,
        "IMAGE_SIZE": 28,
        "NUM_CLASSES": 10,
        "evaluation": evaluation,
        "inference": inference,
        "loss": loss,
        "math": math,
        "training": training,
    },
}
_PACKAGES = ("tensorflow.examples", "tensorflow.examples.tutorials", _TUTORIAL)
_stand_ins = {}  # type: dict[object, object]


def _replace(name, module):
    """Puts the stand-ins into a module that has been loaded under this name."""
    if name in _OWN:
        for attribute, value in _OWN[name].items():
            setattr(module, attribute, value)
        return
    keras = _KERAS.search(name)
    if keras:
        _replace_function(module, "load_data", keras.group(1), _loading)
        if keras.group(1) in _TEXTS:
            _replace_function(module, "get_word_index", keras.group(1), _indexing)
    elif name.endswith(".mnist"):
        for attribute in (DataSet, read_data_sets, load_mnist):
            setattr(module, attribute.__name__, attribute)
    elif isinstance(getattr(module, "DATASETS", None), dict):
        module.DATASETS["mnist"] = load_mnist


def _replace_function(module, attribute, name, make):
    original = getattr(module, attribute, None)
    if callable(original) and original not in _stand_ins.values():
        if original not in _stand_ins:
            _stand_ins[original] = make(original, name)
        setattr(module, attribute, _stand_ins[original])


def _loading(original, name):
    signature = inspect.signature(original)

    @functools.wraps(original)
    def load_data(*args, **kwargs):
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        arguments = dict(given.arguments)
        extra = arguments.pop("kwargs", {})
        if "nb_words" in extra:
            arguments["num_words"] = extra.pop("nb_words")
        if extra:
            raise TypeError("load_data() does not know " + ", ".join(sorted(extra)))
        _served.add(name)
        return _LOADERS[name](original, arguments)

    return load_data


def _indexing(original, name):
    @functools.wraps(original)
    def get_word_index(*args, **kwargs):
        inspect.signature(original).bind(*args, **kwargs)
        _served.add(name)
        return _words(name)

    return get_word_index


class _Finder(object):
    """Comes first among the finders: gives the modules of ours, and changes those of others."""

    def __init__(self):
        self._asked = set()

    def find_spec(self, name, path=None, target=None):
        ours = name in _OWN or name in _PACKAGES
        if name in self._asked or not (ours or _KERAS.search(name) or _CONTRIB.search(name)):
            return None
        self._asked.add(name)
        try:
            found = self._elsewhere(name, path, target)
        finally:
            self._asked.discard(name)
        if ours:
            return self._own(name, found)
        if found is None or not hasattr(found.loader, "exec_module"):
            return None
        found.loader = _Loader(found.loader)
        return found

    def _elsewhere(self, name, path, target):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            found = None if finder is self or find is None else find(name, path, target)
            if found is not None:
                return found
        return None

    def _own(self, name, found):
        if name in _PACKAGES and name != _TUTORIAL and found is not None:
            return found
        spec = importlib.machinery.ModuleSpec(name, _OwnLoader(), is_package=name in _PACKAGES)
        if name in _PACKAGES and found is not None:
            # The rest of what TensorFlow has there stays reachable.
            spec.submodule_search_locations = list(found.submodule_search_locations or ())
        return spec


class _Loader(object):
    """Loads as another loader does, and puts the stand-ins in before anyone sees the module."""

    def __init__(self, inner):
        self._inner = inner

    def create_module(self, spec):
        return self._inner.create_module(spec)

    def exec_module(self, module):
        name = module.__spec__.name
        self._inner.exec_module(module)
        _replace(name, module)
        # TensorFlow 1 puts a wrapper in place of some modules while they load.
        if sys.modules.get(name) not in (None, module):
            _replace(name, sys.modules[name])

    def __getattr__(self, name):
        return getattr(self._inner, name)


class _OwnLoader(object):
    """Makes the modules of the MNIST tutorial, and the packages on the way to them."""

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if module.__name__ in _OWN:
            _replace(module.__name__, module)
