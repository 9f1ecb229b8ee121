"""Redirects of web requests: to http and https only."""

from __future__ import annotations

import urllib.error
import urllib.request
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    import http.client

#: How the addresses begin that are requested.
SCHEMES = ("http://", "https://")


class HttpRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https only; by default ftp is followed too."""

    def redirect_request(  # noqa: PLR0913, PLR0917 - the arguments of urllib
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Return the request for the new address, as urllib defines it."""
        if not newurl.lower().startswith(SCHEMES):
            reason = f"redirected to {newurl!r}, which is neither http nor https"
            raise urllib.error.HTTPError(req.full_url, code, reason, headers, fp)
        return super().redirect_request(req, fp, code, msg, headers, newurl)
