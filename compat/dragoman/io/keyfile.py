"""``--state-key-file``: one sealing key for several processes that serve the same clients.

The file holds 32 or more bytes that nobody can guess, in any form (``openssl rand -hex 32 > key`` will do); every byte
of it counts, a final newline too. It must be readable by its owner alone, or its secret is none.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

_LEAST = 32
_MOST = 1 << 20
_SALT = b"dragoman state key"
_PURPOSE = b"requestState 1"


class KeyFileError(Exception):
    """The key file cannot be used; the text says which file, why, and what to do."""


def load_key(path: str | Path) -> bytes:
    """The 32-byte key derived from the file (HKDF with SHA-256, RFC 5869). Raises ``KeyFileError``."""
    try:
        with open(path, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            secret = file.read(_MOST + 1)
    except FileNotFoundError as fault:
        raise KeyFileError(f"there is no state key file {path}; to make one: (umask 077; openssl rand -hex 32 > {path})") from fault
    except OSError as fault:
        raise KeyFileError(f"cannot read the state key file {path}: {fault.strerror or fault}") from fault
    faults = _faults(stat.S_IMODE(mode), secret)
    if faults:
        raise KeyFileError(f"the state key file {path} {', and it '.join(faults)}")
    import hmac

    extracted = hmac.digest(_SALT, secret, "sha256")
    return hmac.digest(extracted, _PURPOSE + b"\x01", "sha256")


def _faults(mode: int, secret: bytes) -> list[str]:
    faults = []
    # Windows tells who may read a file elsewhere; the mode there is made up.
    if sys.platform != "win32" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        faults.append(f"is open to other users (mode {mode:04o}): run chmod 600 on it")
    if len(secret) < _LEAST:
        faults.append(f"has {len(secret)} bytes, at least {_LEAST} are needed (try openssl rand -hex 32)")
    elif len(secret) > _MOST:
        faults.append(f"is larger than {_MOST} bytes: this is no key")
    return faults
