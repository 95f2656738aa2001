"""Train an agent: python train.py --agent NAME (see --help)."""

import sys

from sandtable.cli import train

if __name__ == "__main__":
    sys.exit(train())
