"""Field cases about authorization, as far as it is the server's side: who is asked, and what a caller may see of others.

(2026-07-28, basic/authorization; server/utilities/caching. The bridge verifies no token: whoever stands in front does.)
"""

from __future__ import annotations

import pytest
from tests.cases.conftest import Share
from tests.cases.served import Served

ASKS = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}


@pytest.mark.parametrize("method", ["server/discover", "tools/list"])
def test_b145_list_that_may_differ_by_caller_is_kept_by_nobody_on_the_way(served: Served, method: str) -> None:
    reply = served.caller("Bearer a").request(method)
    assert reply.json()["result"]["cacheScope"] == "private"
    assert reply.json()["result"]["ttlMs"] == 0
    assert reply.field("cache-control") == "no-store"


def test_b145_time_to_live_that_the_operator_sets_makes_no_list_public(share: Share) -> None:
    reply = share("changes", "--list-ttl", "60").caller("Bearer a").request("tools/list")
    assert reply.json()["result"]["ttlMs"] == 60000
    assert reply.json()["result"]["cacheScope"] == "private"
    assert reply.field("cache-control") == "no-store"


def test_b145_list_of_one_caller_is_asked_for_again_for_another(served: Served) -> None:
    served.caller("Bearer a").request("tools/list")
    served.caller("Bearer b").request("tools/list")
    pids = {entry["pid"] for entry in served.seen() if '"tools/list"' in entry.get("line", "")}
    assert len(pids) == 2


@pytest.mark.parametrize("method", ["server/discover", "tools/list", "ping", "vendor/method"])
def test_b148_discovery_is_refused_to_whoever_is_refused_anything_else(share: Share, method: str) -> None:
    served = share("plain", "--principal-header", "X-User")
    assert served.caller("Bearer limited").request(method).status == 401
    assert served.shown("initialize") == []
    assert served.caller(X_User="ann").request("server/discover").status == 200


def test_b148_handshake_is_refused_to_whoever_is_refused_discovery(share: Share) -> None:
    served = share("plain", "--principal-header", "X-User")
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    reply = served.caller("Bearer limited").post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    assert (reply.status, reply.field("www-authenticate")) == (401, "Bearer")
    assert served.shown("initialize") == []


def test_b076_state_of_one_caller_means_nothing_from_another(served: Served) -> None:
    first, second = served.caller("Bearer one"), served.caller("Bearer two")
    state = first.call("ask", meta=ASKS).json()["result"]["requestState"]
    answers = {"requestState": state, "inputResponses": {"env": {"action": "accept", "content": {"env": "x"}}}}
    stolen = second.request("tools/call", meta=ASKS, name="ask", arguments={}, **answers)
    assert stolen.error()["code"] == -32602
    other_tool = first.request("tools/call", meta=ASKS, name="echo", arguments={}, **answers)
    assert other_tool.error()["code"] == -32602
    done = first.request("tools/call", meta=ASKS, name="ask", arguments={}, **answers)
    assert '"env": "x"' in done.json()["result"]["content"][0]["text"]
