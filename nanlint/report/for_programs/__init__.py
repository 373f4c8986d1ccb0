"""The formats that programs read: CI services, editors, scripts."""
