"""The hash by which nanlint knows contents again: of files, of settings, of its own code."""

from __future__ import annotations

try:
    # hashlib hands out this very function, but loads OpenSSL for others, which takes longer than hashing 1,000 files.
    from _blake2 import blake2b
except ImportError:  # an interpreter that has it elsewhere
    from hashlib import blake2b


def digest_of(data: bytes) -> str:
    """32 hexadecimal digits; other contents have others."""
    return blake2b(data, digest_size=16).hexdigest()
