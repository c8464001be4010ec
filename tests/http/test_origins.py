"""A web page must not reach a server on its visitor's machine, whatever name it gives it."""

from __future__ import annotations

import pytest

from dragoman.http.options import HttpOptions
from dragoman.http.origins import Gate
from dragoman.http.request import Fields


def gate(**options):
    return Gate(HttpOptions(**options))


def fields(host=b"localhost:8000", origin=None, *more):
    lines = [] if host is None else [(b"host", host)]
    return Fields([*lines, *([] if origin is None else [(b"origin", origin)]), *more])


def passes(a_gate, host=b"localhost:8000", origin=None, *, local=True):
    """Asked twice, because what has passed once is remembered."""
    said = [a_gate.check(fields(host, origin), local) for _ in range(2)]
    assert said[0] == said[1]
    return said[0] is None


# --- Host ---


@pytest.mark.parametrize(
    "host",
    [
        b"localhost",
        b"localhost:8000",
        b"LocalHost:1",
        b"localhost.",
        b"localhost.:8000",
        b"127.0.0.1",
        b"127.0.0.1:65535",
        b"[::1]",
        b"[::1]:8000",
        b"[0:0:0:0:0:0:0:1]",
        b"[0000::0001]:80",
        b"  localhost:8000\t",
    ],
)
def test_loopback_names_pass_on_loopback(host):
    assert passes(gate(), host)


EVIL = [
    b"evil.com",
    b"evil.com:8000",
    b"localhost.evil.com",
    b"127.0.0.1.evil.com",
    b"evil-localhost",
    b"localhost-evil",
    b"xlocalhost",
    b"localhostx:8000",
    b"sub.localhost",
    b"127.0.0.2",
    b"127.1",
    b"0.0.0.0",
    b"2130706433",
    b"0x7f000001",
    b"0177.0.0.1",
    b"127.0.0.01",
    b"192.168.1.2:8000",
    b"[::]",
    b"[::2]",
    b"[::ffff:127.0.0.1]",
    b"[fe80::1]",
    b"null",
]
BROKEN = [
    b"",
    b" ",
    b".",
    b":",
    b":8000",
    b"localhost:",
    b"localhost:0",
    b"localhost:65536",
    b"localhost:99999",
    b"localhost:080000",
    b"localhost:-1",
    b"localhost:+80",
    b"localhost:80a",
    b"localhost:80:80",
    b"localhost: 80",
    b"local host",
    b"localhost..",
    b".localhost",
    b"a..b",
    b"user@localhost",
    b"localhost@evil.com",
    b"localhost:80@evil.com",
    b"http://localhost",
    b"localhost/",
    b"localhost/evil",
    b"localhost?a",
    b"localhost#a",
    b"localhost, evil.com",
    b"localhost\\evil.com",
    b"localhost%2eevil.com",
    b"localhost\x00",
    b"localhost\x00.evil.com",
    b"localhost\n",
    b"localhost\r\nx: y",
    b"l\xc3\xb6calhost",
    "\uff4cocalhost".encode(),
    "loc\u212alhost".encode(),
    b"\xb2localhost",
    b"localhost:\xb2",
    b"::1",
    b"[::1",
    b"::1]",
    b"[]",
    b"[localhost]",
    b"[127.0.0.1]",
    b"[::1%25lo]",
    b"[::1%lo]",
    b"[::1]x",
    b"[::1].evil.com",
    b"[::1]:",
    b"[:::1]",
    b"[1:2:3:4:5:6:7:8:9]",
    b"*",
    b"-",
    b"a" * 1000,
]


@pytest.mark.parametrize("host", EVIL + BROKEN)
def test_every_other_host_is_refused_on_loopback(host):
    assert not passes(gate(), host)


@pytest.mark.parametrize("host", EVIL)
def test_loopback_connection_is_guarded_wherever_the_server_listens(host):
    assert not passes(gate(host="0.0.0.0"), host, local=True)
    assert not passes(gate(host="192.168.1.7"), host, local=True)


@pytest.mark.parametrize("bound", ["127.0.0.1", "127.0.0.5", "localhost", "::1"])
def test_server_that_listens_on_loopback_is_guarded_whatever_is_known_of_the_connection(bound):
    assert not passes(gate(host=bound), b"evil.com", local=False)
    assert passes(gate(host=bound), b"localhost:8000", b"http://localhost:1", local=False)


@pytest.mark.parametrize("host", [b"evil.com", b"192.168.1.7:8000", b"[2001:db8::1]:80", b"a_b", b"localhost"])
def test_any_host_passes_elsewhere_if_none_is_named(host):
    assert passes(gate(host="0.0.0.0"), host, local=False)


@pytest.mark.parametrize("options", [{}, {"host": "0.0.0.0"}, {"host": "192.168.1.7", "allow_hosts": ["*"]}, {"allow_hosts": ["evil.com"]}])
@pytest.mark.parametrize("host", BROKEN)
def test_host_that_is_none_is_refused_everywhere(options, host):
    assert not passes(gate(**options), host, local=False)


def test_missing_host_is_refused():
    assert gate(allow_hosts=["*"]).check(fields(None), True) == "Host header is missing"


def test_two_hosts_are_refused_even_if_they_are_equal():
    said = "Host or Origin header stands more than once"
    a_gate = gate()
    assert passes(a_gate)
    assert a_gate.check(Fields([(b"host", b"localhost:8000"), (b"host", b"localhost:8000")]), True) == said
    twice = [(b"host", b"localhost:8000"), (b"origin", b"http://evil.com"), (b"origin", b"http://localhost")]
    assert a_gate.check(Fields(twice), True) == said


@pytest.mark.parametrize(
    ("entry", "good", "bad"),
    [
        (
            "example.com",
            [b"example.com", b"example.com:8080", b"EXAMPLE.com.", b"example.com:443"],
            [b"www.example.com", b"example.com.evil", b"xample.com"],
        ),
        ("example.com:8080", [b"example.com:8080", b"Example.Com.:8080"], [b"example.com", b"example.com:8081", b"example.com:80"]),
        ("EXAMPLE.com.", [b"example.com"], [b"example.org"]),
        ("10.0.0.5", [b"10.0.0.5:80"], [b"10.0.0.6"]),
        ("2001:db8::1", [b"[2001:db8::1]:80", b"[2001:0db8:0:0::1]"], [b"[2001:db8::2]"]),
        ("[2001:db8::1]:80", [b"[2001:db8::1]:80"], [b"[2001:db8::1]"]),
        ("*", [b"evil.com", b"2130706433"], []),
    ],
)
def test_allowed_host_passes_beside_loopback_and_others_do_not(entry, good, bad):
    for local, options in ((True, {}), (False, {"host": "0.0.0.0"})):
        a_gate = gate(allow_hosts=[entry], **options)
        assert [passes(a_gate, host, local=local) for host in good] == [True] * len(good)
        assert [passes(a_gate, host, local=local) for host in bad] == [False] * len(bad)
    assert passes(gate(allow_hosts=[entry]), b"localhost:1")


@pytest.mark.parametrize(
    ("bound", "host"),
    [
        ("192.168.1.7", b"192.168.1.7:8000"),
        ("127.0.0.5", b"127.0.0.5:8000"),
        ("::1", b"[::1]:8000"),
        ("2001:db8::1", b"[2001:db8::1]"),
        ("Box.lan", b"box.lan"),
    ],
)
def test_host_that_is_bound_passes_and_no_other_if_hosts_are_named(bound, host):
    a_gate = gate(host=bound, allow_hosts=["example.com"])
    assert passes(a_gate, host, local=False)
    assert not passes(a_gate, b"evil.com", local=False)


def test_any_address_is_no_name_of_the_server():
    assert not passes(gate(host="0.0.0.0", allow_hosts=["example.com"]), b"0.0.0.0", local=False)
    assert not passes(gate(host="::", allow_hosts=["example.com"]), b"[::]", local=False)


@pytest.mark.parametrize(
    "entry", ["", "http://example.com", "example.com/", "*.example.com", "a b", "example.com:0", "a,b", "[::1", "user@host"]
)
def test_setting_that_is_no_host_is_a_fault(entry):
    with pytest.raises(ValueError, match="--allow-host"):
        gate(allow_hosts=[entry])


# --- Origin ---


@pytest.mark.parametrize(
    "origin",
    [
        None,
        b"http://localhost",
        b"http://localhost:5173",
        b"https://localhost:1",
        b"http://127.0.0.1:3000",
        b"http://[::1]:8000",
        b"HTTP://LOCALHOST",
    ],
)
def test_page_from_loopback_passes_on_loopback(origin):
    assert passes(gate(), origin=origin)


EVIL_ORIGINS = [
    b"http://evil.com",
    b"https://evil.com:8000",
    b"http://localhost.evil.com",
    b"http://127.0.0.1.evil.com",
    b"http://evil.com:80/localhost",
    b"http://192.168.1.2",
    b"chrome-extension://abcdefghijklmnop",
    b"vscode-webview://localhost",
    b"ftp://localhost",
]
NO_ORIGINS = [
    b"",
    b"localhost",
    b"localhost:8000",
    b"//localhost",
    b"http:localhost",
    b"http:/localhost",
    b"http:///localhost",
    b"http://",
    b"http://localhost/",
    b"http://localhost/path",
    b"http://localhost?q",
    b"http://localhost#f",
    b"http://user@localhost",
    b"http://localhost@evil.com",
    b"http://localhost:80@evil.com",
    b"http://localhost http://evil.com",
    b"http://localhost, http://evil.com",
    b"http://localhost:0",
    b"http://localhost:65536",
    b"http://localhost:",
    b"http://localhost\\.evil.com",
    b"http://localhost\x00",
    b"http://localhost%00.evil.com",
    b"http://l\xc3\xb6calhost",
    b"file://",
    b"data:text/html,x",
    b"about:blank",
    b"*",
    b"http://*",
    b"undefined",
]


@pytest.mark.parametrize("origin", [*EVIL_ORIGINS, *NO_ORIGINS, b"null", b"NULL"])
def test_every_other_page_is_refused(origin):
    assert not passes(gate(), origin=origin)
    assert not passes(gate(host="0.0.0.0"), b"example.com", origin, local=False)


def test_page_from_loopback_is_a_stranger_elsewhere():
    assert not passes(gate(host="0.0.0.0"), b"example.com", b"http://localhost:5173", local=False)


def test_page_of_the_same_name_is_no_friend_by_itself():
    assert not passes(gate(allow_hosts=["evil.com"]), b"evil.com:8000", b"http://evil.com:8000")


@pytest.mark.parametrize(
    ("entry", "good", "bad"),
    [
        (
            "https://app.example",
            [b"https://app.example", b"https://app.example:443", b"HTTPS://App.Example"],
            [
                b"http://app.example",
                b"https://app.example:444",
                b"https://x.app.example",
                b"https://app.example.evil.com",
                b"https://app.example/",
            ],
        ),
        ("https://app.example/", [b"https://app.example"], []),
        ("https://app.example:443", [b"https://app.example"], []),
        ("http://app.example:8080", [b"http://app.example:8080"], [b"http://app.example", b"https://app.example:8080"]),
        ("chrome-extension://abcdef", [b"chrome-extension://abcdef"], [b"chrome-extension://abcdeg", b"https://abcdef"]),
        ("*", [b"https://evil.com", b"null", b"chrome-extension://abcdef"], [b"", b"file://", b"evil.com", b"https://a https://b"]),
    ],
)
def test_allowed_page_passes_and_others_do_not(entry, good, bad):
    for local, host, options in ((True, b"localhost", {}), (False, b"a.b", {"host": "0.0.0.0"})):
        a_gate = gate(allow_origins=[entry], **options)
        assert [passes(a_gate, host, origin, local=local) for origin in good] == [True] * len(good)
        assert [passes(a_gate, host, origin, local=local) for origin in bad] == [False] * len(bad)


@pytest.mark.parametrize(
    "entry", ["", "null", "app.example", "https://app.example/path", "https://*.example", "https://", "https://app.example:0"]
)
def test_setting_that_is_no_origin_is_a_fault(entry):
    with pytest.raises(ValueError, match="--allow-origin"):
        gate(allow_origins=[entry])


def test_allowed_page_under_a_rebound_name_is_refused():
    assert not passes(gate(allow_origins=["*"]), b"evil.com", b"http://evil.com")


def test_refusal_names_the_option_and_cuts_the_value():
    assert gate().check(fields(b"evil.com"), True) == "Host header value 'evil.com' is not allowed (--allow-host)"
    assert gate().check(fields(origin=b"http://evil.com"), True) == "Origin header value 'http://evil.com' is not allowed (--allow-origin)"
    assert gate().check(fields(b"x" * 1000), True) == "Host header value '" + "x" * 80 + "…' is not a host"


def test_what_has_passed_on_one_way_has_not_passed_on_the_other():
    a_gate = gate(host="0.0.0.0")
    assert passes(a_gate, b"evil.com", local=False)
    assert not passes(a_gate, b"evil.com", local=True)
    assert not passes(a_gate, b"evil.com", b"http://evil.com", local=False)


def test_memory_of_what_has_passed_is_bounded():
    a_gate = gate(host="0.0.0.0")
    for number in range(1000):
        assert passes(a_gate, b"host-%d" % number, local=False)
    assert len(a_gate._passed) == 256


# --- CORS ---

EXPOSED = (b"access-control-expose-headers", b"Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After")
ALLOWED = (
    b"content-type, accept, authorization, last-event-id, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, "
    b"traceparent, tracestate, baggage"
)


def test_caller_that_is_no_page_gets_no_cors_fields():
    assert gate(allow_origins=["*"]).cors(fields()) == ()


@pytest.mark.parametrize(
    ("origin", "options"),
    [
        (b"http://localhost:5173", {}),
        (b"https://App.example", {"allow_origins": ["https://app.example"]}),
        (b"null", {"allow_origins": ["*"]}),
    ],
)
def test_allowed_page_may_read_the_answer(origin, options):
    assert gate(**options).cors(fields(origin=origin)) == ((b"access-control-allow-origin", origin), (b"vary", b"Origin"), EXPOSED)


@pytest.mark.parametrize("origin", [b"http://evil.com", b"null", b"", b"http://localhost.evil.com", b"x\r\ny: z"])
def test_other_page_may_not(origin):
    assert gate().cors(fields(origin=origin)) == ((b"vary", b"Origin"),)


def test_page_that_names_itself_twice_may_not():
    twice = [(b"origin", b"http://evil.com"), (b"origin", b"http://localhost")]
    assert gate().cors(Fields(twice)) == ((b"vary", b"Origin"),)


def asked(*names, origin=b"http://localhost:5173", a_gate=None):
    lines = [(b"access-control-request-method", b"POST"), *((b"access-control-request-headers", name) for name in names)]
    told = (a_gate or gate()).preflight(fields(b"localhost:8000", origin, *lines))
    assert (told.status, told.body) == (204, b"")
    return dict(told.headers)


def test_page_is_told_what_it_may_send():
    assert asked(b"content-type,mcp-method") == {
        b"allow": b"GET, POST, DELETE, OPTIONS",
        b"access-control-allow-origin": b"http://localhost:5173",
        b"vary": b"Origin",
        b"access-control-allow-methods": b"GET, POST, DELETE, OPTIONS",
        b"access-control-allow-headers": ALLOWED,
        b"access-control-max-age": b"7200",
    }


@pytest.mark.parametrize(
    ("names", "added"),
    [
        ([b"x-evil, cookie"], b""),
        ([b"mcp-param-region"], b", mcp-param-region"),
        ([b"Mcp-Param-Region , content-type,mcp-param-A_1"], b", mcp-param-region, mcp-param-a_1"),
        ([b"mcp-param-a", b"mcp-param-b, mcp-param-a"], b", mcp-param-a, mcp-param-b"),
        ([b"mcp-param-, mcp-param-a b, mcp-param-a:b, mcp-param-\xe9, mcp-param-a\r\nx: y, x-mcp-param-a"], b""),
        ([b"mcp-param-" + b"a" * 101], b""),
        ([b""], b""),
        ([], b""),
    ],
)
def test_parameter_fields_that_are_asked_for_are_allowed(names, added):
    assert asked(*names)[b"access-control-allow-headers"] == ALLOWED + added


def test_number_of_parameter_fields_is_bounded():
    names = b",".join(b"mcp-param-%d" % number for number in range(1000))
    assert asked(names)[b"access-control-allow-headers"].count(b"mcp-param-") == 64


@pytest.mark.parametrize("origin", [None, b"http://evil.com", b"null"])
def test_other_callers_are_told_the_methods_only(origin):
    told = asked(b"content-type", origin=origin)
    assert told.pop(b"allow") == b"GET, POST, DELETE, OPTIONS"
    assert told == ({} if origin is None else {b"vary": b"Origin"})


def test_credentials_of_the_browser_are_never_allowed():
    everything = gate(allow_origins=["*"], allow_hosts=["*"])
    told = {*asked(b"content-type", a_gate=everything), *dict(everything.cors(fields(origin=b"https://a.b")))}
    assert b"access-control-allow-credentials" not in told
