"""Where a test can run."""

import os

import pytest

unix_only = pytest.mark.skipif(os.name == "nt", reason="signals, pipes and shells of Unix")
