"""What an HTTP status without a message means, to a server of any era: put off, lost on the way, refused (RFC 9110)."""

from __future__ import annotations

import pytest
from tests.remote.leg import Leg, ModernLeg, failure, note, result, tool

CALL = {"name": "a", "arguments": {}}


def calling(era):
    leg = Leg() if era == "legacy" else ModernLeg()
    if era == "legacy":
        leg.handshake()
    else:
        leg.knows(tool("a"))
    leg.ask("tools/call", CALL, id=1)
    return leg


def listing(era):
    leg = Leg() if era == "legacy" else ModernLeg()
    if era == "legacy":
        leg.handshake()
    leg.ask("prompts/list", id=1)
    return leg


both = pytest.mark.parametrize("era", ["legacy", "modern"])


@both
@pytest.mark.parametrize("status", [200, 201, 203])
def test_good_status_with_a_message_is_an_answer(era, status):
    leg = calling(era)
    leg.answer(result(1, {"content": []}), status=status)
    assert leg.answers(1) == [result(1, {"content": []})]


@both
@pytest.mark.parametrize("status", [400, 404, 500, 502])
def test_error_in_words_is_passed_on_whatever_the_status(era, status):
    leg = calling(era) if era == "modern" or status != 404 else calling_without_session()
    leg.answer(failure(1, -32000, "in words", more=1), status=status)
    assert leg.error(1) == {"code": -32000, "message": "in words", "data": {"more": 1}}


def calling_without_session():
    leg = Leg()
    leg.handshake(session=None)
    leg.ask("tools/call", CALL, id=1)
    return leg


@both
@pytest.mark.parametrize("status", [429, 503])
def test_call_that_is_put_off_is_sent_again_when_the_server_says(era, status):
    leg = calling(era)
    leg.answer(status=status, retry_after="7")
    assert leg.next_timer == 7.0
    leg.pass_time(7)
    assert leg.last.what == "tools/call"
    leg.answer(result(1))
    assert leg.answers(1) == [result(1)]


@both
@pytest.mark.parametrize("said", [None, "", "soon", "-1", "1.5", "Wed, 21 Oct 2026 07:28:00 GMT", "99999999999", "²"])
def test_time_that_is_no_number_of_seconds_is_not_used(era, said):
    leg = calling(era)
    fields = {} if said is None else {"retry_after": said}
    leg.answer(status=429, **fields)
    assert leg.next_timer == 0.25


@both
def test_call_that_is_put_off_too_often_is_refused(era):
    leg = calling(era)
    for pause in (0.25, 1.0, 2.0):
        leg.answer(b"busy", status=429, kind="text/plain")
        assert leg.next_timer == pause
        leg.pass_time(pause)
    leg.answer(b"busy", status=429, kind="text/plain")
    assert leg.error(1) == {
        "code": -32603,
        "message": "The server answered tools/call with status 429 (Too Many Requests): busy",
        "data": {"status": 429},
    }


@both
@pytest.mark.parametrize("said", ["61", "86400", "999999999"])
def test_call_that_is_put_off_for_long_is_refused_with_the_time(era, said):
    leg = calling(era)
    leg.answer(status=503, retry_after=said)
    assert leg.error(1)["data"] == {"status": 503, "retryAfter": said}
    assert not leg.timers


@both
def test_refusal_in_words_counts_only_when_it_is_not_put_off(era):
    leg = calling(era)
    leg.answer(failure(1, -32000, "rate limited"), status=429, retry_after="1")
    assert leg.answers(1) == []
    leg.pass_time(1)
    leg.answer(failure(1, -32000, "rate limited"), status=429, retry_after="100")
    assert leg.error(1) == {"code": -32000, "message": "rate limited"}


@both
def test_call_that_is_put_off_and_cancelled_is_not_sent_again(era):
    leg = calling(era)
    leg.answer(status=429, retry_after="5")
    leg.cancel(1)
    leg.pass_time(10)
    assert leg.whats().count("tools/call") == 1


@both
@pytest.mark.parametrize("status", [502, 504])
def test_request_that_was_lost_on_the_way_is_sent_once_more_if_it_does_no_harm(era, status):
    leg = listing(era)
    leg.answer(b"<html>", status=status, kind="text/html")
    leg.pass_time(0.25)
    leg.answer(b"<html>", status=status, kind="text/html")
    assert leg.whats().count("prompts/list") == 2
    assert leg.error(1)["data"] == {"status": status}


@both
@pytest.mark.parametrize("status", [500, 502, 504])
def test_call_that_may_have_been_carried_out_is_refused(era, status):
    leg = calling(era)
    leg.answer(status=status)
    assert leg.error(1)["data"] == {"status": status}
    assert leg.whats().count("tools/call") == 1


@both
def test_500_is_not_tried_again_even_for_what_does_no_harm(era):
    leg = listing(era)
    leg.answer(status=500)
    assert leg.error(1)["data"] == {"status": 500}


def test_modern_tool_that_is_harmless_is_called_once_more():
    leg = ModernLeg()
    leg.knows(tool("a", harmless=True))
    leg.call("a", id=1)
    leg.answer(status=502)
    leg.pass_time(1)
    leg.answer(result(1, {"resultType": "complete", "content": []}))
    assert leg.answers(1) != []


@both
@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("body", [b"", b"<html>login</html>", failure(None, -32001, "Unauthorized"), failure(1, -32001, "Unauthorized")])
def test_refused_caller_is_told_with_the_challenge(era, status, body):
    leg = calling(era)
    challenge = 'Bearer error="insufficient_scope", scope="files:write", resource_metadata="http://server.test/.well-known/x"'
    leg.answer(body, status=status, www_authenticate=challenge)
    error = leg.error(1)
    assert error["data"] == {"status": status, "wwwAuthenticate": challenge}
    assert challenge in error["message"]


@both
def test_refused_caller_without_a_challenge_hears_the_servers_words(era):
    leg = calling(era)
    leg.answer(failure(1, -32001, "not your tool"), status=403)
    assert leg.error(1) == {"code": -32001, "message": "not your tool"}


@both
def test_refused_caller_without_any_words_is_told_what_to_do(era):
    leg = calling(era)
    leg.answer(status=401)
    assert "--bearer-env" in leg.error(1)["message"]


@both
def test_notification_that_is_put_off_is_sent_again(era):
    leg = listing(era)
    leg.answer(result(1, {"prompts": []}))
    leg.tell("notifications/x")
    leg.answer(status=503)
    leg.pass_time(1)
    assert leg.last.frame == note("notifications/x")


@both
@pytest.mark.parametrize("status", [100 + 99, 300, 304, 418, 999])
def test_status_that_means_nothing_here_is_told(era, status):
    leg = calling(era)
    leg.answer(status=status)
    assert leg.error(1)["message"].startswith(f"The server answered tools/call with status {status}")


@both
def test_control_characters_of_a_body_do_not_reach_anybody(era):
    leg = calling(era)
    leg.answer(b"\x1b[31mred\x07\r\n" + "\u202e".encode() + b"\xff", status=400, kind="text/plain")
    said = leg.error(1)["message"]
    assert said.isprintable()


@both
def test_long_body_is_told_by_its_beginning(era):
    leg = calling(era)
    leg.answer(b"x" * 5000, status=400, kind="text/plain")
    assert len(leg.error(1)["message"]) < 400


@both
def test_body_of_an_error_over_the_limit_is_an_error_too(era):
    leg = Leg(max_line=5000) if era == "legacy" else ModernLeg(max_line=5000)
    if era == "legacy":
        leg.handshake()
    leg.ask("prompts/list", id=1)
    leg.answer(b"x" * 100_000, status=400, kind="text/plain")
    assert "more than --max-line allows" in leg.error(1)["message"]
