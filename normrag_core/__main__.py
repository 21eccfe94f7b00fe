"""`python -m normrag_core`: the command line."""

import sys

from normrag_core.cli import main

sys.exit(main())
