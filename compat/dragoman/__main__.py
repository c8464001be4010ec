"""``python -m dragoman``."""

from __future__ import annotations

import sys

from dragoman.wrap.cli import main

sys.exit(main())
