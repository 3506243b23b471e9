# SPDX-License-Identifier: MIT
"""Reports: what the page of ``cffpy report`` shows, as one document, and the page itself."""
