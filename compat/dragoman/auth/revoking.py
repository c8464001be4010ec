"""Telling the authorization server that tokens are not needed any more (RFC 7009), where its metadata says how."""

from __future__ import annotations

import base64
from urllib.parse import quote

import httpx2

from dragoman.auth import documents, sdk
from dragoman.auth.errors import AuthError
from dragoman.auth.record import Record
from dragoman.auth.settings import BASIC, POST, Settings
from dragoman.auth.wire import Wire


async def revoke(record: Record, settings: Settings) -> str:
    """What came of it, as words to add to a line."""
    address = documents.text(record.metadata, "revocation_endpoint")
    client = sdk.client_of(settings, record, "", 0.0)
    if not address or client is None:
        return ""
    data = {"token": record.refresh_token or record.access_token, "client_id": client.client_id}
    headers: dict[str, str] = {}
    secret = client.client_secret or ""
    if secret and client.token_endpoint_auth_method == BASIC:
        pair = f"{quote(client.client_id, safe='')}:{quote(secret, safe='')}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    elif secret and client.token_endpoint_auth_method == POST:
        data["client_secret"] = secret
    try:
        async with Wire(settings, local=documents.is_loopback(record.server)) as wire:
            answer = await wire.send(httpx2.Request("POST", address, data=data, headers=headers))
    except AuthError as fault:
        return f"; its token could not be revoked: {fault}"
    return "; its token is revoked" if answer.status_code == 200 else f"; its token could not be revoked: status {answer.status_code}"
