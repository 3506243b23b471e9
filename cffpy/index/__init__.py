# SPDX-License-Identifier: MIT
"""Indexes of many captures: Parquet partitions that are built incrementally, and asked.

``build.py`` plans and publishes, ``engines.py`` runs the tasks of ``partition.py`` in worker
processes or by Dask, ``storage.py`` is where files are, ``reader.py`` answers. docs/architecture.md
has the layout of an index.
"""
