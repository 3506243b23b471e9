# SPDX-License-Identifier: MIT
"""Indexes of many captures: Parquet partitions that are built incrementally, and queries on them.

``build.py`` plans and publishes, ``engines.py`` runs the tasks of ``partition.py`` in worker
processes or by Dask, ``storage.py`` stores files, ``reader.py`` answers queries.
"""
