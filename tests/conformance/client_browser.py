"""The user's browser, and the user: opens a page, follows where it sends them, and agrees to everything.

    python client_browser.py URL

Set as BROWSER, with ``%s`` for the page. The authorization servers of the suite ask nothing: they send the browser straight on, to the
listener of whoever asked for a login. The exit status is 0 if the last page was a good one; nobody looks at it.
"""

from __future__ import annotations

import sys
import urllib.error
import urllib.request

PATIENCE = 20.0


def main(url: str) -> int:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=PATIENCE) as page:
            page.read()
    except urllib.error.URLError as fault:
        print(f"{url}: {fault}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
