# SPDX-License-Identifier: MIT
"""The rules, a file each: ``cffNNN_name.py`` has the class of CFFNNN."""
