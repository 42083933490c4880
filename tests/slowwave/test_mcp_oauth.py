"""Access tokens of an OpenID provider: a real one on this machine, and what must not get by."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import time
from hashlib import sha256
from typing import Any

import pytest
from oauth_provider import RESOURCE, Provider, provider
from starlette.testclient import TestClient

from slowwave.errors import SettingsError
from slowwave.mcp.http import WELL_KNOWN, application
from slowwave.serving.caller import Authentication, Caller
from slowwave.serving.claims import granted, narrowed, scopes_of
from slowwave.serving.oauth import OAuth
from slowwave.serving.provider_keys import COOLDOWN_S, FRESH_S, TRUSTED_S
from slowwave.settings import OAuthGrant, OAuthSettings, load

ADA = Caller("ada", "ida", "assistant")
SIGNED = "This token"


@pytest.fixture(scope="module")
def there() -> Any:
    with provider() as made:
        yield made


@pytest.fixture
def own() -> Any:
    """One that a test may change."""
    with provider() as made:
        yield made


class Clock:
    """Seconds that a test moves."""

    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def oauth_of(there: Provider, **more: Any) -> OAuth:
    return OAuth(OAuthSettings.model_validate(there.settings(**more)))


def ask(oauth: OAuth, token: str) -> Authentication:
    return asyncio.run(oauth.answer(token))


def part(data: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).rstrip(b"=").decode()


def with_the_public_key(there: Provider) -> str:
    """HS256, with the public key as the secret; the library itself would not sign so."""
    head, claims, _ = there.token().split(".")
    head = part({"alg": "HS256", "typ": "at+jwt", "kid": there.kid})
    mark = hmac.new(there.public, f"{head}.{claims}".encode(), sha256).digest()
    return f"{head}.{claims}.{base64.urlsafe_b64encode(mark).rstrip(b'=').decode()}"


def other_claims(there: Provider) -> str:
    """The claims of one token with the signature of another one."""
    head, _, mark = there.token().split(".")
    return f"{head}.{there.token(sub='mallory').split('.')[1]}.{mark}"


def of_another_key(there: Provider) -> str:
    from authlib import jose

    return there.token(key=jose.RSAKey.generate_key(is_private=True).as_pem(is_private=True))


def test_a_token_of_the_provider_opens_what_its_grant_says(there):
    assert ask(oauth_of(there), there.token()).caller == ADA
    assert ask(oauth_of(there), there.token(aud=["https://other.example.org", RESOURCE])).caller == ADA


NOW = int(time.time())
REFUSED: dict[str, Any] = {
    "none": lambda it: f"{part({'alg': 'none', 'kid': it.kid})}.{it.token().split('.')[1]}.",
    "HS256 with the public key": with_the_public_key,
    "claims of another token": other_claims,
    "another key of the same name": of_another_key,
    "wrong issuer, same sub": lambda it: it.token(iss="https://evil.example.org"),
    "no issuer": lambda it: it.token(iss=None),
    "wrong audience": lambda it: it.token(aud="https://other.example.org/mcp"),
    "an audience that begins so": lambda it: it.token(aud=RESOURCE + "/x"),
    "no audience": lambda it: it.token(aud=None),
    "expired": lambda it: it.token(exp=NOW - 3_600),
    "does not expire": lambda it: it.token(exp=None),
    "expires never": lambda it: it.token(exp=float("inf")),
    "not yet valid": lambda it: it.token(nbf=NOW + 3_600),
    "of tomorrow": lambda it: it.token(iat=NOW + 86_400),
    "no principal": lambda it: it.token(sub=None),
    "empty principal": lambda it: it.token(sub=" "),
    "a principal of two lines": lambda it: it.token(sub="ida\nadmin"),
    "a long principal": lambda it: it.token(sub="i" * 300),
    "no grant": lambda it: it.token(groups=["others"]),
    "a group that has the name in it": lambda it: it.token(groups="memory-team memory-guests"),
    "groups of an odd kind": lambda it: it.token(groups={"memory-team": True}),
    "no scope of ours": lambda it: it.token(scope="openid"),
    "no scope": lambda it: it.token(scope=None),
    "an ID token": lambda it: it.token(at_hash="x"),
    "bound to a client key": lambda it: it.token(cnf={"jkt": "x"}),
    "of another type": lambda it: it.token(head={"typ": "logout+jwt"}),
    "no key name": lambda it: it.token(head={"kid": ""}),
    "what is critical": lambda it: it.token(head={"crit": ["exp"]}),
    "huge": lambda it: it.token(more="x" * 20_000),
    "deep": lambda it: f"{base64.urlsafe_b64encode(b'[' * 9_000).decode()}.x.y",
    "no base64": lambda it: "ä.ö.ü",
    "empty": lambda it: "..",
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_must_not_get_by(there, name):
    token = REFUSED[name](there)
    answer = ask(oauth_of(there), token)
    assert answer.caller is None
    assert answer.why
    assert answer.status in (401, 403)
    assert not any(piece in answer.why for piece in token.split(".") if len(piece) > 8)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("huge", "characters; the maximum is 16,384"),
        ("HS256 with the public key", "signature algorithm (alg) is not one of"),
        ("of another type", "is no access token (typ)"),
        ("expired", "has expired"),
        ("empty", "is not valid"),
    ],
)
def test_the_answer_says_what_is_wrong_with_a_token(there, name, words):
    assert words in ask(oauth_of(there), REFUSED[name](there)).why


def test_only_what_may_be_guessed_is_answered_slowly(there):
    oauth = oauth_of(there)
    slow = {
        "none",
        "HS256 with the public key",
        "another key of the same name",
        "claims of another token",
        "huge",
    }
    for name in slow:
        assert ask(oauth, REFUSED[name](there)).guessed, name
    for name in ("expired", "no grant", "wrong audience", "no scope"):
        assert not ask(oauth, REFUSED[name](there)).guessed, name
    assert ask(oauth, REFUSED["no scope"](there)).scope == "memory:read"


def test_scopes_only_narrow(there):
    oauth = oauth_of(there)
    reader = ADA._replace(rights="reader")
    assert ask(oauth, there.token(scope="memory:read")).caller == reader
    assert ask(oauth, there.token(scope=None, scp=["memory:read"])).caller == reader
    assert ask(oauth, there.token(scope=["memory:write"])).caller == ADA
    guest = ask(oauth, there.token(groups=["memory-guests"], scope="memory:write")).caller
    assert guest == Caller("bob", "ida", "reader")
    assert ask(oauth_of(there, scopes=False), there.token(scope=None)).caller == ADA
    assert ask(oauth_of(there, scopes=False), there.token(scope="memory:read")).caller == reader
    assert scopes_of({"scope": 7, "scp": {"memory:write": 1}}) == frozenset()
    assert narrowed("reader", frozenset({"memory:write"}), needed=True) == "reader"


def test_the_first_grant_decides(there):
    both = there.token(groups=["memory-team", "memory-guests"])
    assert ask(oauth_of(there), both).caller == Caller("bob", "ida", "reader")
    inside = OAuthGrant(claim="realm_access.roles", value="team", namespace="ada")
    assert granted({"realm_access": {"roles": ["team"]}}, [inside]) == inside
    assert granted({"realm_access.roles": ["other"], "realm_access": {"roles": ["team"]}}, [inside]) is None
    assert granted({"realm_access": "roles"}, [inside]) is None


def test_nobody_comes_in_once_the_last_grant_is_taken_out(there):
    assert ask(oauth_of(there), there.token()).caller == ADA
    answer = ask(oauth_of(there, grants=[]), there.token())
    assert (answer.caller, answer.status) == (None, 403)


def test_a_new_key_is_followed_and_an_old_one_forgotten(own):
    oauth, clock = oauth_of(own), Clock()
    oauth.keys._clock = clock
    old = own.token()
    assert ask(oauth, old).caller == ADA
    own.rotate()
    assert ask(oauth, own.token()).caller is None  # it was asked a moment ago
    clock.now += COOLDOWN_S
    assert ask(oauth, own.token()).caller == ADA
    assert ask(oauth, old).caller is None
    assert own.asked.count("/jwks") == 2


def test_unknown_keys_do_not_send_us_to_the_provider_again_and_again(own):
    oauth = oauth_of(own)
    oauth.keys._clock = Clock()
    for number in range(20):
        assert ask(oauth, own.token(head={"kid": f"key {number}"})).caller is None
    assert own.asked.count("/jwks") == 1


def test_a_provider_that_is_down_refuses_nobody_whose_key_is_known(own):
    oauth, clock = oauth_of(own), Clock()
    oauth.keys._clock = clock
    token = own.token()
    assert ask(oauth, token).caller == ADA
    own.stop()
    clock.now += FRESH_S + 1
    assert ask(oauth, token).caller == ADA
    assert oauth.keys._answer is not None
    oauth.keys._answer.result(30)  # it was asked beside the request, in vain
    assert ask(oauth, token).caller == ADA
    assert ask(oauth, own.token(head={"kid": "another"})).caller is None
    clock.now += TRUSTED_S
    assert "keys of its issuer are not available" in ask(oauth, token).why


def test_who_says_to_be_somebody_else_is_not_asked_for_keys(own):
    settings = own.settings(issuer=own.url.replace("127.0.0.1", "localhost"))
    own.claims = {}
    oauth = OAuth(OAuthSettings.model_validate(settings | {"issuer": own.url + "/"}))
    assert ask(oauth, own.token(iss=own.url + "/")).caller is None
    assert own.asked.count("/jwks") == 0


def test_its_metadata_has_the_addresses_of_the_settings_and_is_told_by_known_names_alone(home, there):
    """RFC 9728 and the MCP specification: a client comes by the address that a refused request names."""
    ours = "https://memory.example.org/mcp"
    oauth = there.settings(resource=ours)
    settings = load(home, mcp={"oauth": oauth, "allowed_hosts": ["memory.example.org"]})
    client = TestClient(application(settings, "127.0.0.1"))

    def ask(path: str, host: str) -> Any:
        return client.get(path, headers={"Host": host})

    paths = (f"{WELL_KNOWN}/mcp", WELL_KNOWN)
    for path in paths:
        for host in ("memory.example.org", "memory.example.org:8443", "127.0.0.1:8760", "[::1]:8760"):
            told = ask(path, host)
            assert told.status_code == 200, host
            assert told.json()["resource"] == ours
            assert told.json()["authorization_servers"][0].rstrip("/") == there.url
            assert told.json()["scopes_supported"] == ["memory:read", "memory:write"]
        for host in ("evil.example.com", "memory.example.org.evil.example.com", ""):
            refused = ask(path, host)
            assert refused.status_code == 421, host
            assert "example.org" not in refused.text
        of_elsewhere = {"Host": "memory.example.org", "Origin": "https://inspector.example.com"}
        told = client.get(path, headers=of_elsewhere)  # public, also for a client in a browser
        assert (told.status_code, told.headers["access-control-allow-origin"]) == (200, "*")
        before = {
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "mcp-protocol-version",
        }
        assert client.options(path, headers=of_elsewhere | before).status_code == 200
        assert (
            client.options(path, headers=of_elsewhere | before | {"Host": "evil.example.com"}).status_code
            == 421
        )
    for host in ("memory.example.org", "evil.example.com"):
        asked = client.post("/mcp", headers={"Host": host}, json={})
        assert asked.status_code == 401
        assert (
            f'resource_metadata="https://memory.example.org{paths[0]}"' in asked.headers["WWW-Authenticate"]
        )


@pytest.mark.parametrize(
    "wrong",
    [
        {"issuer": "http://login.example.org"},
        {"issuer": "https://ida:secret@login.example.org"},
        {"algorithms": ["HS256"]},
        {"algorithms": ["none"]},
        {"algorithms": []},
        {"resource": ""},
        {"issuer": ""},
        {"jwks_url": "file:///etc/passwd"},
    ],
)
def test_settings_that_would_open_too_much_are_refused(home, there, wrong):
    with pytest.raises(SettingsError, match=r"mcp\.oauth") as caught:
        load(home, mcp={"oauth": there.settings(**wrong)})
    assert "secret@" not in str(caught.value)
