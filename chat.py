import sys

from chatbot.cli.entry import run

sys.exit(run("chat", sys.argv[1:]))
