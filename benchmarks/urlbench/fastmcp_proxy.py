"""fastmcp's proxy to a URL, set up as it comes: ``fastmcp_proxy.py stdio URL``, ``fastmcp_proxy.py PORT URL``."""

from __future__ import annotations

import sys


def main() -> None:
    from fastmcp.server import create_proxy

    face, url = sys.argv[1:3]
    proxy = create_proxy(url)
    if face == "stdio":
        proxy.run(transport="stdio", show_banner=False, log_level="error")
    else:
        proxy.run(transport="http", host="127.0.0.1", port=int(face), path="/mcp", show_banner=False, log_level="error")


if __name__ == "__main__":
    main()
