# SPDX-License-Identifier: MIT
"""The Python interface: what ``import cffpy`` offers.

``cffpy/__init__.py`` lists the public names. What they return is public, too, except for
attributes ``model``, which are the objects that the commands use.
"""
