# SPDX-License-Identifier: Apache-2.0
"""Uses of tf.nn.rnn_cell as TF 1 scripts have them; ``tf`` is the namespace under test."""

import numpy as np

X = np.random.RandomState(3).randn(2, 5, 3).astype("float32")


def flat(tf, outputs, state):
    from tensorflow import nest
    return [*nest.flatten(outputs), *nest.flatten(state)]


def dynamic(make):
    def case(tf):
        cell = make(tf, tf.nn.rnn_cell)
        return flat(tf, *tf.nn.dynamic_rnn(cell, X, sequence_length=[3, 5], dtype=tf.float32))

    return case


def cell(kind, *args, **kwargs):
    return dynamic(lambda tf, rnn: getattr(rnn, kind)(*args, **kwargs))


def static(tf):
    rnn = tf.nn.rnn_cell
    stack = rnn.MultiRNNCell([rnn.BasicLSTMCell(3), rnn.GRUCell(4), rnn.BasicRNNCell(2)])
    outputs, state = tf.nn.static_rnn(stack, tf.unstack(X, axis=1),
                                      initial_state=stack.zero_state(2, tf.float32))
    return flat(tf, outputs[-1], state)


def bidirectional(tf):
    rnn = tf.nn.rnn_cell
    outputs, state = tf.nn.bidirectional_dynamic_rnn(
        rnn.LSTMCell(3), rnn.GRUCell(2), X, dtype=tf.float32, scope="bi")
    return flat(tf, outputs, state)


def by_hand(tf):
    rnn = tf.nn.rnn_cell
    lstm = rnn.BasicLSTMCell(4, name="mine")
    state = lstm.zero_state(2, tf.float32)
    with tf.variable_scope("net"):
        for t in range(3):
            if t > 0:
                tf.get_variable_scope().reuse_variables()
            output, state = lstm(X[:, t], state)
    again = rnn.BasicLSTMCell(4, name="mine", reuse=True)
    with tf.variable_scope("net", reuse=True):
        other, _ = again(X[:, 0], lstm.zero_state(2, tf.float32))
    return [output, *state, other]


def own_cell(tf):
    class Mine(tf.nn.rnn_cell.RNNCell):
        @property
        def state_size(self):
            return 2

        @property
        def output_size(self):
            return 2

        def call(self, inputs, state):
            w = tf.get_variable("w", [3, 2])
            new = tf.tanh(tf.matmul(inputs, w) + state)
            return new, new

    class Old(tf.nn.rnn_cell.RNNCell):
        state_size = output_size = 2

        def __call__(self, inputs, state, scope=None):
            with tf.variable_scope(scope or type(self).__name__):
                new = tf.tanh(tf.layers.dense(inputs, 2) + state)
            return new, new

    a = tf.nn.dynamic_rnn(Mine(), X, dtype=tf.float32, scope="a")
    b = tf.nn.dynamic_rnn(Old(), X, dtype=tf.float32, scope="b")
    return [*a, *b]


def wrapped(tf, rnn):
    residual = rnn.ResidualWrapper(rnn.GRUCell(3))
    mixed = rnn.ResidualWrapper(rnn.BasicLSTMCell(3), residual_fn=lambda x, y: x * y)
    kept = rnn.DropoutWrapper(rnn.DeviceWrapper(rnn.BasicLSTMCell(3), "/cpu:0"))
    return rnn.MultiRNNCell([residual, mixed, kept])


CASES = {
    "BasicRNNCell": cell("BasicRNNCell", 4),
    "BasicRNNCell relu": cell("BasicRNNCell", 4, activation="relu"),
    "GRUCell": cell("GRUCell", 4), "BasicLSTMCell": cell("BasicLSTMCell", 4),
    "BasicLSTMCell concatenated": dynamic(
        lambda tf, rnn: rnn.BasicLSTMCell(4, 0.5, state_is_tuple=False, activation=tf.nn.relu)),
    "LSTMCell": cell("LSTMCell", 4),
    "LSTMCell with all": cell("LSTMCell", 4, use_peepholes=True, cell_clip=0.4, num_proj=3,
                              proj_clip=0.3, forget_bias=0.3),
    "LSTMCell concatenated": cell("LSTMCell", 4, num_proj=3, state_is_tuple=False),
    "MultiRNNCell concatenated": dynamic(lambda tf, rnn: rnn.MultiRNNCell(
        [rnn.GRUCell(4), rnn.BasicRNNCell(2)], state_is_tuple=False)),
    "wrapped": dynamic(wrapped), "static": static, "bidirectional": bidirectional,
    "by hand": by_hand, "own cell": own_cell,
}
