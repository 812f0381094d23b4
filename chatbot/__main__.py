"""`python -m chatbot COMMAND ...`"""

import sys

from chatbot.cli.entry import main

sys.exit(main(sys.argv[1:]))
