# SPDX-License-Identifier: MIT
"""What Intel's command streams do: submissions, actions, state, tables, descriptors, passes."""
