"""What can go wrong with an npz file."""

import tokenize
import zipfile
import zlib

# What numpy and zipfile raise for damaged files.
DAMAGES = (OSError, ValueError, KeyError, EOFError, MemoryError, NotImplementedError, SyntaxError, tokenize.TokenError,
           zipfile.BadZipFile, zlib.error)
