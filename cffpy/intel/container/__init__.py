# SPDX-License-Identifier: MIT
"""Files with Intel command streams: AUB, i915 error states, Xe devcoredumps; GPU memory."""
