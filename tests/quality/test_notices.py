from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.quality import legal_notices
from slowwave.quality.legal_notices import is_licence_notice, is_page_notice

PAGES = (
    "This website uses cookies to ensure you get the best experience.", "Skip to main content",
    "Subscribe now to continue reading this article.", "Read more... Share Tweet Like Print",
    "You have reached your monthly limit of free articles.", "403 Forbidden", "Advertisement",
    "Already a subscriber? Log in", "Privacy Policy · Terms of Use · Imprint",
)  # fmt: skip
ABOUT_PAGES = (
    "We use cookies to store the session token.", "The newsletter goes out on Mondays.",
    "You must be logged in to the VPN to reach staging.", "404 errors come from the old sitemap.",
    "Advertisement budget is 500 euros.", "Home address: 12 Harbour Road", "Contact: Anna, Support: Ben",
    "The page not found error comes from the proxy.", "Sam unsubscribed from our newsletter.", "",
)  # fmt: skip
LICENCES = (
    "copies of the Software, and to permit persons to whom the Software is furn",
    "either version 3 of the License, or (at your option) any later version.",
    "Copyright (c) 2013 Jane Doe\n\nPermission is hereby ", "SPDX-License-Identifier: MIT",
    "© 2023 ACME Inc. Terms Privacy Cookies",
)  # fmt: skip
ABOUT_LICENCES = (
    "The project is licensed under the Apache License, Version 2.0 since March.",
    "Copyright 2019 went to Anna.",
    "We moved the client from the GNU General Public License to MIT.", "The software is in the blue tin.",
    "Copyright (c) 2013 Jane Doe\n\nShe lives in Lisbon and keeps the spare keys.",
    "All rights went to Ben.", "",
)  # fmt: skip


@pytest.mark.parametrize("text", PAGES)
def test_what_a_page_says_of_itself_is_a_notice(text: str) -> None:
    assert is_page_notice(text.casefold())


@pytest.mark.parametrize("text", ABOUT_PAGES)
def test_what_is_said_about_a_page_is_none(text: str) -> None:
    assert not is_page_notice(text.casefold())


@pytest.mark.parametrize("text", LICENCES)
def test_a_piece_of_a_licence_is_a_notice(text: str) -> None:
    assert is_licence_notice(text.casefold())


@pytest.mark.parametrize("text", ABOUT_LICENCES)
def test_what_is_said_about_a_licence_is_none(text: str) -> None:
    assert not is_licence_notice(text.casefold())


@settings(max_examples=400)
@given(st.from_regex(legal_notices._PAGE))
def test_every_page_notice_has_one_of_the_signs_that_are_looked_for_first(text):
    assert any(sign in text for sign in legal_notices._PAGE_SIGNS)
