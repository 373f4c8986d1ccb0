"""What all files of a project say together: their state, their words, the half formats they switch on."""
