"""A network of weather stations: two tools with structured results, policy documents as resources, and a prompt that renders a code review.

The tools return dataclasses. Their shapes are in ``tools/list`` as output schemas, and clients that know structured content get it; all
others read the same JSON as text.
"""

import sys
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from dragoman import Server, ToolError, asgi, content, serve_stdio

Region = Literal["coast", "hills"]
Focus = Literal["units", "gaps", "style"]


@dataclass
class Station:
    """Where measurements are made; the altitude is in metres."""

    code: str
    name: str
    region: Region
    altitude: int


@dataclass
class Reading:
    """What a station measured last: degrees Celsius, metres a second, hectopascals."""

    station: str
    time: str
    temperature: float
    wind: float
    pressure: float


STATIONS = [
    Station("HBR", "Harbour Wall", "coast", 4),
    Station("LGT", "Lighthouse Point", "coast", 31),
    Station("RDG", "Upper Ridge", "hills", 840),
]
READINGS = {
    "HBR": Reading("HBR", "2026-08-03T06:00:00Z", 16.4, 7.2, 1013.1),
    "LGT": Reading("LGT", "2026-08-03T06:00:00Z", 15.9, 11.8, 1009.9),
    "RDG": Reading("RDG", "2026-08-03T06:00:00Z", 8.3, 4.6, 916.5),
}
POLICIES = {
    "units": "# Units\n\nStore SI units. Convert at the edge, once, and name the unit in the variable.\n",
    "gaps": "# Gaps\n\nA missing value is null, never 0. Up to two missing hours may be interpolated, and are marked.\n",
    "style": "# Style\n\nOne function does one thing. No station is named in code: stations are data.\n",
}

server = Server("weather-stations", "2.1", title="Weather stations")


@server.tool(annotations={"readOnlyHint": True})
def list_stations(region: Region | None = None) -> list[Station]:
    """List the stations of the network, or those of one region."""
    return [station for station in STATIONS if region in (None, station.region)]


@server.tool(annotations={"readOnlyHint": True})
def latest_reading(station: Annotated[str, Field(description="the code of a station")]) -> Reading:
    """Tell what a station measured last."""
    if station not in READINGS:
        raise ToolError(f"There is no station {station}. The stations are {', '.join(READINGS)}.")
    return READINGS[station]


def publish(name: str, text: str) -> None:
    """Offer a policy document; it may be kept for an hour, by anybody."""

    @server.resource(f"policy://{name}", name=name, mime_type="text/markdown", ttl=3600, scope="public")
    def document() -> str:
        return text


for each, words in POLICIES.items():
    publish(each, words)


@server.prompt(title="Review a change")
def review_code(code: Annotated[str, Field(description="the code to review")], focus: Focus = "units") -> list[content.Content]:
    """Have a change to the stations' software reviewed by one of the policies."""
    fence = "````"
    return [
        content.message(
            "user", f"Review this change by the policy on {focus}. List faults first, each with its line.\n\n{fence}\n{code}\n{fence}"
        ),
        content.message("user", content.resource(f"policy://{focus}", POLICIES[focus], "text/markdown")),
    ]


app = asgi(server, sse=True)  # sse: clients of 2024-11-05, which know no other HTTP

if __name__ == "__main__":
    sys.exit(serve_stdio(server))
