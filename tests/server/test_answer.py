"""Questions are read as they are meant, and too long ones refused."""

import pytest

from scorespace.errors import DataError
from scorespace.server.answer import Answer, first, moved, read_query


def test_a_query_keeps_its_order_and_what_is_empty():
    assert read_query("score=b&score=a&weight=&x=%3Cscript%3E") == {
        "score": ["b", "a"],
        "weight": [""],
        "x": ["<script>"],
    }
    assert first({"a": ["1", "2"]}, "a") == "1"
    assert first({}, "a") == ""


def test_bytes_that_are_no_text_do_no_harm():
    assert read_query("a=%ff%00") == {"a": ["\ufffd\0"]}


def test_too_many_words_are_refused():
    with pytest.raises(DataError, match="too many words"):
        read_query("&".join(f"a={k}" for k in range(3000)))


def test_a_browser_is_sent_on():
    assert moved("/?a=b", Cookie="c") == Answer(status=303, headers={"Location": "/?a=b", "Cookie": "c"})
