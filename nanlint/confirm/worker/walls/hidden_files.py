"""What the user's code has no business to read: keys and tokens; and the devices that it may open."""

from __future__ import annotations

import os
from pathlib import Path

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
OWN_THREADS = "/proc/self/task"
"""What may be written of `/proc`: newer drivers of GPUs give names to their threads, and do not start if they cannot."""
SERVICES = ("/run", "/tmp/.X11-unix", "/tmp/.ICE-unix")  # noqa: S108 - where their sockets are
"""Folders with the sockets of the system's services, which a network namespace does not cut off."""
_GPU_NAMES = ("nvidia*", "dri", "kfd", "dxg")
_IN_HOME = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".pypirc",
    ".npmrc",
    ".password-store",
    ".pgpass",
    ".my.cnf",
    ".boto",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/rclone",
    ".config/op",
    ".config/google-chrome",
    ".config/chromium",
    ".mozilla",
    ".local/share/keyrings",
    ".huggingface/token",
    ".cache/huggingface/token",
    ".cache/huggingface/stored_tokens",
    ".kaggle",
    ".wandb",
    ".ray",
    ".config/wandb",
    ".bash_history",
    ".zsh_history",
    ".python_history",
)
_OF_THE_SYSTEM = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/ssl/private", "/root/.ssh")


def secrets() -> list[str]:
    """The files and folders with keys and tokens that are there, links followed."""
    # Strings: this is done for each job.
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.expanduser raises where there is no home
    named = [*(f"{home}/{name}" for name in _IN_HOME), *_OF_THE_SYSTEM]
    return [os.path.realpath(path) for path in named if os.path.lexists(path)]


def gpu_devices() -> tuple[str, ...]:
    """The device files of GPUs."""
    return tuple(str(path) for name in _GPU_NAMES for path in sorted(Path("/dev").glob(name)))
