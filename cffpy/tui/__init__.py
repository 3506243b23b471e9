# SPDX-License-Identifier: MIT
"""The terminal browser: ``cffpy tui``, by the library Textual (extra ``tui``).

It uses the Python interface, in threads of its workers; ``reader`` and ``outline`` know nothing of
Textual. Nothing else imports this package.
"""
