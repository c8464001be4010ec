// Questions in rounds of `input_required` (2026-07-28, basic/patterns/mrtr), with the means of the SDK.
//
// A handler runs from its beginning in every round. `given` is what the client answered, once it has answered all of it; what earlier
// rounds were answered travels in the request state, which the SDK's codec signs and the server's `requestState.verify` opens. The SDK
// refuses with -32021 what asks more than the client declared.

import { createRequestStateCodec, inputRequired } from "@modelcontextprotocol/server";
import { randomBytes } from "node:crypto";

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

/** A state belongs to one method of one tool or prompt; the header is compared with the body before a handler runs. */
const purpose = ({ http, mcpReq }) => `${mcpReq.method} ${http?.req?.headers.get("mcp-name")}`;
export const codec = createRequestStateCodec({ key: randomBytes(32), bind: purpose });

export function form(message, properties, required = Object.keys(properties)) {
  const requestedSchema = { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
  return inputRequired.elicit({ mode: "form", message, requestedSchema });
}

export const sampled = (words, maxTokens) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text: words } }], maxTokens });

export const roots = () => inputRequired.listRoots();

/** True when the client declared, for this request, what the question needs. */
export const declared = (context, question) => context.mcpReq.envelope?.[CAPABILITIES]?.[question.method.split("/")[0]] !== undefined;

function isAnswer(question, answer) {
  if (answer === null || typeof answer !== "object") return false;
  if (question.method === "sampling/createMessage") return typeof answer.model === "string" && typeof answer.content === "object";
  if (question.method === "roots/list") return Array.isArray(answer.roots);
  return ["decline", "cancel"].includes(answer.action) || (answer.action === "accept" && typeof answer.content === "object");
}

function collected(context, asked) {
  const fresh = Object.entries(context.mcpReq.inputResponses ?? {}).filter(([key, answer]) => key in asked && isAnswer(asked[key], answer));
  return { ...context.mcpReq.requestState(), ...Object.fromEntries(fresh) };
}

/** The answers to all of it by key, or undefined while one is missing. */
export function given(context, asked) {
  const answers = collected(context, asked);
  return Object.keys(asked).every((key) => key in answers) ? answers : undefined;
}

/** End this round with what is still to be asked. A stateless question needs no state: its answer alone says enough. */
export async function round(context, asked, { stateless = false } = {}) {
  const held = collected(context, asked);
  const inputRequests = Object.fromEntries(Object.entries(asked).filter(([key]) => !(key in held)));
  return inputRequired({ inputRequests, ...(stateless ? {} : { requestState: await codec.mint(held, context) }) });
}
