# The script's own package: a DataFlow as they were written before __iter__ and __len__.
import numpy as np
from tensorpack.dataflow import RNGDataFlow


class Blobs(RNGDataFlow):
    """Points of two kinds, one around +1 and one around -1."""

    def __init__(self, count, is_train):
        self.count = count
        self.is_train = is_train

    def size(self):
        return self.count

    def get_data(self):
        for _ in range(self.count):
            label = self.rng.randint(2)
            yield [self.rng.randn(4).astype(np.float32) + (1 if label else -1), label]
