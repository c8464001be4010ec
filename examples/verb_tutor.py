"""A tutor of English verbs: one tool, whose schema follows from the annotations of its function.

``Verb`` and ``Form`` are enums in the schema, so a client can offer them as choices and a model knows what it may ask for. What fits no
enum never reaches ``practise``: the model is told what would have fitted.
"""

import sys
from typing import Annotated, Literal

from pydantic import Field

from dragoman import Server, asgi, serve_stdio

Verb = Literal["be", "bring", "go", "sing", "write"]
Form = Literal["third person", "past", "past participle", "-ing form"]

FORMS: dict[str, dict[str, str]] = {
    "be": {"third person": "is", "past": "was, were", "past participle": "been", "-ing form": "being"},
    "bring": {"third person": "brings", "past": "brought", "past participle": "brought", "-ing form": "bringing"},
    "go": {"third person": "goes", "past": "went", "past participle": "gone", "-ing form": "going"},
    "sing": {"third person": "sings", "past": "sang", "past participle": "sung", "-ing form": "singing"},
    "write": {"third person": "writes", "past": "wrote", "past participle": "written", "-ing form": "writing"},
}

server = Server("verb-tutor", "1.0", instructions="Have the learner guess first, then call practise with the guess.")


@server.tool(title="Practise a verb", annotations={"readOnlyHint": True})
def practise(verb: Verb, form: Form, guess: Annotated[str, Field(description="what the learner says")] = "") -> str:
    """Tell a form of an English verb; with a guess, tell whether it is right."""
    right = FORMS[verb][form]
    if not guess:
        return f"The {form} of {verb} is: {right}."
    if guess.strip().lower() in right.split(", "):
        return f"Right: the {form} of {verb} is {right}."
    return f"Not quite: the {form} of {verb} is {right}, not {guess.strip()}."


app = asgi(server, sse=True)  # sse: clients of 2024-11-05, which know no other HTTP

if __name__ == "__main__":
    sys.exit(serve_stdio(server))
