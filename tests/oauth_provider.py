"""A local OpenID provider whose access tokens are JWTs (RFC 9068), with a key that can be changed."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import flask
import jwt
import oidc_provider_mock as mock
import werkzeug.serving
from authlib import jose
from oidc_provider_mock._storage import storage

RESOURCE = "http://127.0.0.1:8765/mcp"


@dataclass
class Provider:
    """A provider, and what it was asked for.

    Attributes:
        claims: what access tokens of its flow say besides.
        asked: paths of the requests.
    """

    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    key: Any = None
    kid: str = ""
    server: Any = None

    def token(
        self, *, key: Any = None, alg: str = "RS256", head: dict[str, Any] | None = None, **more: Any
    ) -> str:
        """An access token; what is None is left out."""
        now = int(time.time())
        claims = {
            "iss": self.url, "aud": RESOURCE, "sub": "ida", "iat": now, "exp": now + 600,
            "groups": ["memory-team"], "scope": "openid memory:read memory:write", **more,
        }  # fmt: skip
        claims = {name: value for name, value in claims.items() if value is not None}
        return jwt.encode(
            claims, key or self.private, alg, {"kid": self.kid, "typ": "at+jwt", **(head or {})}
        )

    @property
    def private(self) -> bytes:
        """The private key, as PEM."""
        return self.key.as_pem(is_private=True)

    @property
    def public(self) -> bytes:
        """The public key, as PEM."""
        return self.key.as_pem(is_private=False)

    def settings(self, **more: Any) -> dict[str, Any]:
        """Settings of a server that takes its tokens."""
        grants = [
            {"claim": "groups", "value": "memory-guests", "namespace": "bob", "rights": "reader"},
            {"claim": "groups", "value": "memory-team", "namespace": "ada", "rights": "assistant"},
        ]
        return {"issuer": self.url, "resource": RESOURCE, "grants": grants, **more}

    def rotate(self) -> None:
        """A new key; the old one is not among the provider's any more."""
        self.key = jose.RSAKey.generate_key(is_private=True)
        self.kid = self.key.as_dict()["kid"] if "kid" in self.key.as_dict() else self.key.thumbprint()

    def stop(self) -> None:
        """It does not answer from now on."""
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def provider() -> Iterator[Provider]:
    """A provider that runs until the block ends."""
    made = Provider()
    made.rotate()
    app = flask.Flask("provider")

    def access_token(client: Any, grant_type: str, user: Any, scope: str) -> str:
        return made.token(
            sub=user.sub,
            aud=flask.request.form.get("resource"),
            scope=scope,
            client_id=client.id,
            **made.claims,
        )

    app.config["OAUTH2_ACCESS_TOKEN_GENERATOR"] = access_token
    mock.init_app(app)
    app.secret_key = "of a test"

    @app.before_request
    def _noted() -> None:
        made.asked.append(flask.request.path)
        storage.jwk = made.key

    made.server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True)
    made.url = f"http://127.0.0.1:{made.server.server_port}"
    thread = threading.Thread(target=made.server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.stop()
        thread.join(5)
