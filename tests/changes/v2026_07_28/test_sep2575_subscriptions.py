from __future__ import annotations

from crossings import notification, raw

METHOD = "notifications/resources/updated"


def test_notification_without_meta_is_untouched() -> None:
    assert raw(notification(METHOD, '{ "uri":"a:b", "x":1.10 }')) == '{ "uri":"a:b", "x":1.10 }'


def test_foreign_meta_is_kept() -> None:
    assert raw(notification(METHOD, '{"uri":"a:b","_meta":{"a":1.10}}')) == '{"uri":"a:b","_meta":{"a":1.10}}'


def test_subscription_of_a_legacy_server_is_taken_out() -> None:
    text = '{"_meta":{"io.modelcontextprotocol/subscriptionId":{},"a":1.10},"uri":"a:b"}'
    assert raw(notification(METHOD, text)) == '{"_meta":{"a":1.10},"uri":"a:b"}'
