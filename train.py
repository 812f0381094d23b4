import sys

from chatbot.cli.entry import run

sys.exit(run("train", sys.argv[1:]))
