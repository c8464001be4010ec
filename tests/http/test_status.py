"""An error inside a call is 200; only four codes have a status of their own."""

from __future__ import annotations

import pytest

from dragoman import frame
from dragoman.http.status import error_code_of, status_of


@pytest.mark.parametrize("code", [None, -32602, -32603, -32600, -32700, -32000, -32001, -32002, -32042, -32019, -32023, -1, 0, 404])
def test_other_answers_are_200(code):
    assert status_of(code) == 200


@pytest.mark.parametrize(("code", "status"), [(-32601, 404), (-32020, 400), (-32021, 400), (-32022, 400)])
def test_four_errors_have_a_status(code, status):
    assert status_of(code) == status


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"error":{"code":-32601}}}\n',
        b'{"jsonrpc":"2.0","id":"\\"error\\":{\\"code\\":-32601}","result":{}}\n',
        b'{"jsonrpc":"2.0","id":1,"result":{"a":"\\u00e9"}}\n',
        b'{"jsonrpc":"2.0","id":1,"error":null,"result":{}}\n',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"error":{"code":1}}}\n',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":"-32601","message":"x"}}\n',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":true}}\n',
        b'{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}\n',
        b'{"jsonrpc":"2.0","id":1,"error":"Method not found"}\n',
        b'[{"error":{"code":-32601}}]\n',
        b'{"error"\n',
        b'"error"',
        b"",
    ],
)
def test_line_without_an_error_code_has_none(line):
    assert error_code_of(line) is None


@pytest.mark.parametrize(
    "line",
    [
        frame.failure(b"1", frame.error(-32601, "Method not found")),
        frame.failure(b'"a"', frame.error(-32601, "x", {"error": {"code": 1}})),
        frame.failure(None, frame.error(-32601, "x")),
        b'{"error": {"message":"x","data":{"code":5},"code":-32601}, "id": 1, "jsonrpc": "2.0"}',
        b' { "id" : 1 , "error" : { "code" : -32601 } } ',
        b'{"\\u0065rror":{"c\\u006fde":-32601}}',
    ],
)
def test_code_is_read_from_the_envelope_however_it_is_written(line):
    assert error_code_of(line) == -32601
