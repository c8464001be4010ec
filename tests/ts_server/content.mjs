// Content blocks, resources and prompts of the server.

import { ResourceTemplate, completable } from "@modelcontextprotocol/server";
import * as z from "zod";

import { form, given, round } from "./rounds.mjs";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";
const WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

export const PIXEL = { type: "image", data: PNG, mimeType: "image/png" };
export const TONE = { type: "audio", data: WAV, mimeType: "audio/wav" };

export const text = (words) => ({ type: "text", text: words });
export const embedded = (uri, mimeType, words) => ({ type: "resource", resource: { uri, mimeType, text: words } });
const user = (content) => ({ role: "user", content });

export function addResources(server) {
  const plain = (name, description, words) =>
    server.registerResource(name, `test://${name}`, { description, mimeType: "text/plain" }, (uri) => ({
      contents: [{ uri: uri.href, mimeType: "text/plain", text: words }],
    }));
  plain("static-text", "A text that never changes", "This is the content of the static text resource.");
  plain("watched-resource", "Worth a subscription", "This resource can be watched.");
  server.registerResource("static-binary", "test://static-binary", { description: "A picture", mimeType: "image/png" }, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "image/png", blob: PNG }],
  }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  const mimeType = "application/json";
  server.registerResource("data-by-id", template, { description: "The data of one id", mimeType }, (uri, { id }) => ({
    contents: [{ uri: uri.href, mimeType, text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
  }));
}

const WORDS = ["paris", "park", "party", "test", "testing"];
const begunWith = (value) => WORDS.filter((word) => word.startsWith(value));

export function addPrompts(server, extra) {
  server.registerPrompt("test_simple_prompt", { description: "One message" }, () => ({
    messages: [user(text("This is a simple prompt for testing."))],
  }));
  const first = completable(z.string().describe("The first"), begunWith);
  const both = z.object({ arg1: first, arg2: z.string().describe("The second") });
  const two = { description: "One message of two arguments", argsSchema: both };
  server.registerPrompt("test_prompt_with_arguments", two, ({ arg1, arg2 }) => ({
    messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  }));
  const where = { description: "A resource and a request", argsSchema: z.object({ resourceUri: z.string().describe("What is embedded") }) };
  server.registerPrompt("test_prompt_with_embedded_resource", where, ({ resourceUri }) => ({
    messages: [
      user(embedded(resourceUri, "text/plain", "Embedded resource content for testing.")),
      user(text("Please process the embedded resource above.")),
    ],
  }));
  server.registerPrompt("test_prompt_with_image", { description: "An image and a request" }, () => ({
    messages: [user(PIXEL), user(text("Please analyze the image above."))],
  }));
  server.registerPrompt("test_input_required_result_prompt", { description: "Asks the user for its context" }, async (context) => {
    const asked = { user_context: form("What context should the prompt use?", { context: { type: "string" } }) };
    const answers = given(context, asked);
    if (answers === undefined) return await round(context, asked);
    return { messages: [user(text(`Use this context: ${answers.user_context.content?.context ?? "none"}`))] };
  });
  if (extra.has("prompt")) {
    const messages = [user(text("extra"))];
    server.registerPrompt("extra_prompt", { description: "Came while the server was running" }, () => ({ messages }));
  }
}
