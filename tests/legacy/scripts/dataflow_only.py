#!/usr/bin/env python
# No TensorFlow at all: half of tensorpack's users. Prints what it saw, to be compared.
from __future__ import print_function
import numpy as np
from tensorpack.dataflow import *
from tensorpack.dataflow import imgaug
from tensorpack.utils import get_rng
from tensorpack.utils.utils import fix_rng_seed

fix_rng_seed(7)


class Images(RNGDataFlow):
    def __len__(self):
        return 40

    def __iter__(self):
        for k in range(40):
            yield [self.rng.randint(0, 255, size=(10, 12, 3)).astype('uint8'), k]


def numbers():
    for k in range(30):
        yield {'k': k, 'square': k * k}


ds = Images()
ds = AugmentImageComponent(ds, [imgaug.Flip(horiz=True), imgaug.CenterCrop((8, 8))])
ds = MapData(ds, lambda dp: None if dp[1] % 10 == 3 else [dp[0].astype('float32') / 255, dp[1]])
ds = BatchData(ds, 7, remainder=True)
ds.reset_state()
for image, label in ds:
    print(image.shape, image.dtype, label.dtype, label.tolist())

ds = DataFromGenerator(numbers())
ds = MapDataComponent(ds, lambda v: v + 1, 'square')
ds = FixedSizeData(ds, 12)
ds.reset_state()
print(len(ds), [dp['square'] for dp in ds])
letters = DataFromList([['a'], ['b']], shuffle=False)
joined = JoinData([DataFromList([[1], [2]], shuffle=False), letters])
joined.reset_state()
print(list(joined), len(RepeatedData(joined, 3)), get_rng().randint(0, 1) == 0)
both = ConcatData([DataFromList([[1]], shuffle=False), SelectComponent(joined, [1])])
both.reset_state()
print(list(both))
