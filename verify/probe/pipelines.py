"""Knows which Python generators a pipeline has begun and not gone to the end of.

Where loops are cut short, such a one was read further than the steps went, as far as the pipeline
works ahead: random numbers and data sets are left elsewhere than by a loop that draws itself.
"""


class Generators(object):
    """Those that `Dataset.from_generator` was given."""

    def __init__(self):
        self.unfinished = 0

    def install(self, datasets):
        base = getattr(datasets, "DatasetV2", None)
        real = getattr(base, "from_generator", None)
        if real is None:
            return

        def from_generator(generator, *arguments, **options):
            given = self._watched(generator) if callable(generator) else generator
            return real(given, *arguments, **options)

        base.from_generator = staticmethod(from_generator)

    def _watched(self, generator):
        def watched(*arguments):
            self.unfinished += 1
            for element in generator(*arguments):
                yield element
            self.unfinished -= 1

        return watched
