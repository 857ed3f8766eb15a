"""Questions of our own: the frontier, two passes, training errors, features of features."""
