"""One module a command (or two that are near), imported when it is called."""
