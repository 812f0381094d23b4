"""`train.py` a hundred million seconds later."""

from __future__ import annotations

import sys
import time

if __name__ == "__main__":
    now = time.time
    time.time = lambda: now() + 1e8
    from chatbot.cli.entry import run

    sys.exit(run("train", sys.argv[1:]))
