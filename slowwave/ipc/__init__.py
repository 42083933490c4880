"""Inter-process communication with a running server, from the standard library alone.

A short command spends nearly all of its time on loading libraries, model and tables. The server (`slowwave
up`) has them loaded. This package decides whether the server can run a command, and carries request and
answer.
"""
