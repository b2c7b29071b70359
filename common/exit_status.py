"""How programs end: their exit statuses, the same in all of them."""

EXIT_OK = 0
EXIT_FAILED = 1  # what was begun could not be done: a full disk, a process that died
EXIT_REFUSED = 2  # an option, a file or a model that cannot be used; click ends so, too
EXIT_INTERRUPTED = 130  # by Ctrl-C
