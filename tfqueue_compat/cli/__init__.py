# SPDX-License-Identifier: Apache-2.0
"""The command line: each verb is one file that registers its own sub-parser."""
