import itertools
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from dragoman.bridging.sealing import AeadSealer, State, canonical_json, digest_of, read_state

KEY = bytes(range(32))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=12,
)


def counting():
    """Randomness that repeats: every request is answered with the next number."""
    numbers = itertools.count(1)
    return lambda size: next(numbers).to_bytes(size, "big")


def sealer(key=KEY):
    return AeadSealer(key, counting())


# --- the seal ---


@given(st.binary(max_size=200), st.binary(max_size=40))
def test_sealed_payload_opens_to_itself(payload, bound):
    box = sealer()
    assert box.open(box.seal(payload, bound), bound) == payload


def test_same_payload_sealed_twice_gives_two_texts():
    box = sealer()
    assert box.seal(b"x", b"") != box.seal(b"x", b"")


def test_text_needs_no_escaping_in_json_or_urls():
    text = sealer().seal(bytes(range(256)), b"who")
    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert len(text) == 379  # 12 + 256 + 16 bytes, without padding


def test_payload_cannot_be_read_in_the_text():
    assert b"secret" not in AeadSealer(KEY, counting()).seal(b"secret" * 4, b"").encode()


def test_two_processes_with_one_key_open_each_others_states():
    assert sealer().open(sealer().seal(b"x", b"who"), b"who") == b"x"


def test_processes_without_a_key_do_not():
    assert AeadSealer(None, lambda size: b"\x02" * size).open(AeadSealer(None, lambda size: b"\x01" * size).seal(b"x", b""), b"") is None


def test_key_of_the_wrong_size_is_refused():
    with pytest.raises(ValueError, match="a sealing key has 32 bytes, this one has 16"):
        AeadSealer(b"k" * 16, counting())


@given(st.binary(max_size=40), st.data())
def test_any_flipped_bit_is_refused(payload, data):
    box = sealer()
    text = box.seal(payload, b"who")
    index = data.draw(st.integers(0, len(text) - 1))
    bit = data.draw(st.integers(0, 7))
    changed = text[:index] + chr(ord(text[index]) ^ 1 << bit) + text[index + 1 :]
    assert box.open(changed, b"who") is None


@given(st.binary(max_size=20))
def test_every_other_last_character_is_refused(payload):
    box = sealer()
    text = box.seal(payload, b"")
    others = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") - {text[-1]}
    assert [other for other in others if box.open(text[:-1] + other, b"") is not None] == []


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + "=",
        lambda text: text + "==",
        lambda text: text + "A",
        lambda text: text + "\n",
        lambda text: " " + text,
        lambda text: text[:4] + "\n" + text[4:],
        lambda text: text[:-1],
        lambda text: text[4:],
        lambda text: text.replace("-", "+").replace("_", "/"),
        lambda text: text + text,
        lambda text: text[:-1] + "é",
        lambda text: text[:-1] + "\ud800",
    ],
)
def test_other_spelling_of_a_text_is_refused(change):
    box = AeadSealer(KEY, lambda size: b"\xfb\xef\xff" * (size // 3))  # a nonce that has both "-" and "_" in its text
    text = box.seal(b"payload", b"who")
    assert text.startswith("--__")
    assert box.open(text, b"who") == b"payload"
    assert box.open(change(text), b"who") is None


@pytest.mark.parametrize("text", ["", "A", "AA", "null", "made-up", "A" * 37, "A" * 38, "A" * 1000])
def test_invented_text_is_refused(text):
    assert sealer().open(text, b"") is None


def test_state_of_another_principal_is_refused():
    box = sealer()
    text = box.seal(b"x", b"alice")
    assert box.open(text, b"bob") is None
    assert box.open(text, b"") is None
    assert box.open(text, b"alice") == b"x"


def test_cipher_is_not_loaded_before_the_first_seal():
    code = (
        "import sys; from dragoman.bridging.sealing import AeadSealer; box = AeadSealer(None, bytes); "
        "print('cryptography' in sys.modules, 'hashlib' in sys.modules); box.seal(b'', b''); print('cryptography' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)})
    assert done.stdout == "False False\nTrue\n"


# --- the state ---


def test_state_reads_back():
    state = State("p-1", 7, 2, 1000.5, "d" * 64, {"env": "e" * 64}, {"elicitation-1": "id-1"})
    assert read_state(state.encode()) == state


def test_state_is_compact():
    assert len(State("p-1", 7, 2, 1000.5, "d" * 64).encode()) == 84


@pytest.mark.parametrize("payload", [b"", b"{}", b"\xc0", b"\x91\x01", State("p", 1, 1, 1.0, "d").encode()[:-1]])
def test_payload_that_is_no_state_is_none(payload):
    assert read_state(payload) is None


def test_state_expires_at_its_expiry():
    state = State("p-1", 7, 2, 1000.5, "d")
    assert state.expired(1000.4) is False
    assert state.expired(1000.5) is True
    assert state.expired(float("nan")) is True


# --- the digest ---


def members(**params):
    return {name: Raw(json.dumps(value).encode()) for name, value in params.items()}


def test_digest_is_stable():
    call = {"name": Raw(b'"deploy"'), "arguments": Raw(b'{"a":1}')}
    assert digest_of("tools/call", call) == "93dcc30f8dbd3c315c1baeaa5779c61202f46b06f0d1e1d7a616082c96c991e4"


def test_other_members_do_not_matter():
    plain = digest_of("tools/call", members(name="deploy", arguments={"a": 1}))
    retry = members(name="deploy", arguments={"a": 1}, requestState="x", inputResponses={"k": {}}, _meta={"progressToken": 2}, uri="u")
    assert digest_of("tools/call", retry) == plain


def test_absent_and_empty_arguments_are_the_same():
    assert digest_of("tools/call", members(name="t")) == digest_of("tools/call", members(name="t", arguments={}))


def test_key_order_white_space_and_escapes_do_not_matter():
    one = {"name": Raw(b'"t"'), "arguments": Raw(b'{"a":"\xc3\xa9","b":{"d":[1, 2],"c":null}}')}
    other = {"arguments": Raw(b'{ "b" : {"c":null, "d":[1,2]},\n"\\u0061":"\\u00e9" }'), "name": Raw(b' "\\u0074"')}
    assert digest_of("tools/call", one) == digest_of("tools/call", other)


@given(st.dictionaries(st.text(), JSON, max_size=5), st.randoms())
def test_digest_does_not_depend_on_key_order(arguments, random):
    def shuffled(value):
        if isinstance(value, dict):
            items = [(key, shuffled(part)) for key, part in value.items()]
            random.shuffle(items)
            return dict(items)
        return [shuffled(part) for part in value] if isinstance(value, list) else value

    assert digest_of("tools/call", members(name="t", arguments=arguments)) == digest_of(
        "tools/call", members(arguments=shuffled(arguments), name="t")
    )


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/get", {"name": "t", "arguments": {"a": 1}}),
        ("tools/call", {"name": "u", "arguments": {"a": 1}}),
        ("tools/call", {"name": "t", "arguments": {"a": 2}}),
        ("tools/call", {"name": "t", "arguments": {"a": "1"}}),
        ("tools/call", {"name": "t", "arguments": {"a": [1]}}),
        ("tools/call", {"name": "t", "arguments": {"a": True}}),
        ("tools/call", {"name": "t", "arguments": {"a": 1, "b": None}}),
        ("tools/call", {"name": "t"}),
        ("tools/call", {"arguments": {"a": 1}}),
        ("tools/call", {"name": ["t"], "arguments": {"a": 1}}),
    ],
)
def test_another_request_has_another_digest(method, params):
    assert digest_of(method, members(**params)) != digest_of("tools/call", members(name="t", arguments={"a": 1}))


def test_resource_is_named_by_its_uri():
    read = digest_of("resources/read", members(uri="file:///a"))
    assert read == digest_of("resources/read", members(uri="file:///a", name="ignored"))
    assert read != digest_of("resources/read", members(uri="file:///b"))


def test_unknown_method_has_a_digest():
    assert len(digest_of("vendor/do", members(name="a"))) == 64


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        (b"1", b"1"),
        (b"-12", b"-12"),
        (b"9007199254740993", b"9007199254740993"),
        (b"9007199254740992.0", b"9007199254740992"),
        (b"1.0", b"1"),
        (b"1E2", b"100"),
        (b"-1.50e+1", b"-15"),
        (b"0.10", b"1e-1"),
        (b"1e-1", b"1e-1"),
        (b"0.1000000000000000055", b"1000000000000000055e-19"),
        (b"-0", b"0"),
        (b"-0.0", b"0"),
        (b"1e400", b"1e400"),
        (b"10e399", b"1e400"),
        (b"1e1000000000000", b"1e1000000000000"),
        (b'[ {"b":1,"a":[ ]} , "\\u00e9\\/" ]', '[{"a":[],"b":1},"é/"]'.encode()),
        (b'{"a":1,"a":2}', b'{"a":2}'),
    ],
)
def test_canonical_spelling(written, canonical):
    assert canonical_json(written) == canonical


def test_values_that_no_tree_can_hold_stay_as_written():
    deep = b"[" * 5000 + b"]" * 5000
    assert canonical_json(deep) == deep
    assert canonical_json(b"1" * 5000) == b"1" * 5000
    assert canonical_json(b"1e" + b"9" * 5000) == b"1e" + b"9" * 5000
