"""The command line: one module per command. Parse, call, print, exit; everything else is somebody else's work."""
