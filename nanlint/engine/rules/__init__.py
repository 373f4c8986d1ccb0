"""The rules: found, loaded, selected, and watched while they run."""
