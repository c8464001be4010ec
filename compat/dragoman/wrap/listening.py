"""The sockets that ``dragoman serve`` listens on, and what is wrong with an address, in words.

Listening on more than this machine is for those who have said how callers are told apart: without a header of a trusted
proxy's all anonymous callers would be one principal, and would share the server's state.
"""

from __future__ import annotations

import errno
import socket
from ipaddress import ip_address

BACKLOG = 2048


class CannotListen(Exception):
    """The address cannot be used; the text says why, and what to do."""


class Unsafe(Exception):
    """The address may not be used as things are; the text says why, and what to do."""


def resolve(host: str) -> list[str]:
    """The addresses behind a host, the preferred one first. Raises ``CannotListen``."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as fault:
        reason = fault.strerror if isinstance(fault, socket.gaierror) else "it is no host name"
        raise CannotListen(f"cannot resolve --host {host}: {reason}") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in sorted(found, key=lambda entry: entry[0] != socket.AF_INET)))


def check(host: str, addresses: list[str], isolation: str, principal_header: str | None) -> None:
    """Refuse to listen where strangers can come unless it is known how they are told apart. Raises ``Unsafe``."""
    if isolation == "shared" or principal_header is not None:
        return
    if not all(ip_address(address.partition("%")[0]).is_loopback for address in addresses):
        raise Unsafe(
            f"--host {host} can be reached from other machines, and callers without credentials could not be told apart there: put a "
            "reverse proxy in front that names the caller, with --principal-header NAME; or, if all callers may share one server and "
            "its state, say --isolation shared"
        )


def listen(host: str, addresses: list[str], port: int) -> list[socket.socket]:
    """A socket for each address, all of one port (0: any that is free). Raises ``CannotListen``."""
    sockets: list[socket.socket] = []
    try:
        for address in addresses:
            try:
                sockets.append(_bound(address, port))
            except OSError as fault:
                if sockets and fault.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    continue  # a name for both kinds of addresses, on a machine that has one of them
                raise CannotListen(_explain(fault, host, port)) from None
            port = sockets[0].getsockname()[1]
    except CannotListen:
        for each in sockets:
            each.close()
        raise
    return sockets


def url(host: str, sockets: list[socket.socket], path: str) -> str:
    """Where clients find us."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{sockets[0].getsockname()[1]}{path}"


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:  # 0.0.0.0 is asked for by name
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((address, port))
        made.listen(BACKLOG)  # another program on the same port is noticed here, not later
    except OSError:
        made.close()
        raise
    return made


def _explain(fault: OSError, host: str, port: int) -> str:
    if fault.errno == errno.EADDRINUSE:
        return f"port {port} of {host} is in use: choose another one with --port, or 0 for any that is free"
    if fault.errno == errno.EACCES:
        return f"port {port} needs privileges: choose one over 1023 with --port, and put a reverse proxy in front"
    if fault.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
        return f"--host {host} is no address of this machine"
    return f"cannot listen on port {port} of {host}: {fault.strerror}"
