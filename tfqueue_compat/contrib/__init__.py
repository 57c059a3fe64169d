# SPDX-License-Identifier: Apache-2.0
"""tensorpack's path of what is not its own: Keras."""
