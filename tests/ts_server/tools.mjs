// The tools of the server; what they are named and what they answer is what the official conformance suite looks for.

import { fromJsonSchema } from "@modelcontextprotocol/server";
import { setTimeout as pause } from "node:timers/promises";

import { PIXEL, TONE, embedded, text } from "./content.mjs";
import { declared, form, given, roots, round, sampled } from "./rounds.mjs";

const NOTHING = { type: "object", properties: {} };

/** An input schema of required strings. */
function strings(...required) {
  return { type: "object", properties: Object.fromEntries(required.map((name) => [name, { type: "string" }])), required };
}

const FULL_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: { $anchor: "addressDef", type: "object", properties: { street: { type: "string" }, city: { type: "string" } } },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};
const REGION_SCHEMA = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } }, required: ["region"] };

const DEFAULTS = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};
const titled = (noun) => ["First", "Second", "Third"].map((ordinal, at) => ({ const: `value${at + 1}`, title: `${ordinal} ${noun}` }));
const PLAIN = ["option1", "option2", "option3"];
const CHOICES = {
  untitledSingle: { type: "string", enum: PLAIN },
  titledSingle: { type: "string", oneOf: titled("Option") },
  legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["Option One", "Option Two", "Option Three"] },
  untitledMulti: { type: "array", items: { type: "string", enum: PLAIN } },
  titledMulti: { type: "array", items: { anyOf: titled("Choice") } },
};

const said = (words) => ({ content: [text(words)] });
const failed = (words) => ({ ...said(words), isError: true });
const told = ({ action, content }) => `action=${action}, content=${JSON.stringify(content ?? {})}`;
const sampledText = ({ content }) => (Array.isArray(content) ? content : [content]).map((block) => block.text).join(" ");
const nameForm = () => form("What is your name?", { name: { type: "string" } });

/** A tool that asks one set of questions, and answers from what it was answered. */
const asking = (questions, finish, options) => async (args, context) => {
  const asked = questions(args);
  const answers = given(context, asked);
  return answers === undefined ? await round(context, asked, options) : said(finish(answers, context));
};

// -- while they run

async function withProgress(_, context) {
  const progressToken = context.mcpReq._meta?.progressToken;
  for (const progress of [0, 50, 100]) {
    if (progressToken !== undefined) {
      await context.mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
    }
    await pause(50);
  }
  return said("Progress is 100 of 100");
}

async function withLogging(_, context) {
  for (const words of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
    await context.mcpReq.log("info", words, "ts-server");
    await pause(50);
  }
  return said("Tool with logging executed successfully");
}

async function logging(_, context) {
  for (const level of ["debug", "info", "warning", "error"]) await context.mcpReq.log(level, `one message at ${level}`, "ts-server");
  return said("logged");
}

// -- questions

const askName = (finish, options) => asking(() => ({ user_name: nameForm() }), ({ user_name: answer }) => finish(answer), options);
const askModel = (words, finish) => asking((args) => ({ answer: sampled(words(args), 100) }), ({ answer }) => finish(sampledText(answer)));
const askForm = (message, fields) =>
  asking(() => ({ review: form(message, fields, []) }), ({ review }) => `Elicitation completed: ${told(review)}`);
const askRoots = asking(() => ({ client_roots: roots() }), ({ client_roots: { roots: found } }) => `Roots: ${found.map(({ uri }) => uri)}`);

const askContact = asking(
  ({ message }) => ({ contact: form(message, { username: { type: "string" }, email: { type: "string" } }) }),
  ({ contact }) => `User response: ${told(contact)}`,
);

const askToConfirm = asking(
  () => ({ confirm: form("Please confirm", { ok: { type: "boolean" } }) }),
  ({ confirm }, context) => `${context.mcpReq.requestState() ? "state-ok" : "no state"}, confirmed: ${confirm.content?.ok === true}`,
);

const askThree = asking(
  () => ({ user_name: nameForm(), greeting: sampled("Generate a greeting", 50), client_roots: roots() }),
  ({ user_name: name, greeting, client_roots: { roots: found } }) =>
    `${sampledText(greeting)} ${name.content?.name ?? "nobody"}, of ${found.length} root(s)`,
);

async function askTwice(_, context) {
  const first = { step1: form("Step 1: What is your name?", { name: { type: "string" } }) };
  const both = { ...first, step2: form("Step 2: What is your favorite color?", { color: { type: "string" } }) };
  const answers = given(context, both);
  if (answers !== undefined) return said(`${answers.step1.content?.name} likes ${answers.step2.content?.color}`);
  return await round(context, given(context, first) === undefined ? first : both);
}

async function askWhatIsDeclared(_, context) {
  const questions = Object.entries({ said: sampled("Say something", 50), user_name: nameForm() });
  const asked = Object.fromEntries(questions.filter(([, question]) => declared(context, question)));
  if (Object.keys(asked).length === 0) return failed("the client can be asked nothing");
  return given(context, asked) === undefined ? await round(context, asked) : said(`${Object.keys(asked).length} answer(s)`);
}

async function logThenAsk(args, context) {
  await context.mcpReq.log("info", "about to ask", "ts-server");
  return await askName(told)(args, context);
}

// -- the list

const inside = embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.");
const record = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}');
const hello = ({ content }) => `Hello, ${content?.name ?? "whoever you are"}!`;

/** Every tool: its name, description and handler, and its schema where it takes arguments. */
function catalogue(notify, extra) {
  const toggle = (what, tell) => () => {
    if (!extra.delete(what)) extra.add(what);
    tell();
    return said(`the extra ${what} is ${extra.has(what) ? "listed" : "gone"}`);
  };
  const touch = ({ uri }) => {
    notify().resourceUpdated(uri);
    return said(`${uri} has changed`);
  };
  const tools = [
    ["test_simple_text", "Answers with one text", () => said("This is a simple text response for testing.")],
    ["test_image_content", "Answers with an image", () => ({ content: [PIXEL] })],
    ["test_audio_content", "Answers with a sound", () => ({ content: [TONE] })],
    ["test_embedded_resource", "Answers with an embedded resource", () => ({ content: [inside] })],
    ["test_multiple_content_types", "Has three blocks", () => ({ content: [text("Multiple content types test:"), PIXEL, record] })],
    ["test_error_handling", "Always fails", () => failed("This tool intentionally returns an error for testing")],
    ["test_tool_with_logging", "Logs three times while it runs", withLogging],
    ["test_logging_tool", "Logs at four levels", logging],
    ["test_tool_with_progress", "Reports progress 0, 50 and 100", withProgress],
    ["test_trigger_tool_change", "Adds a tool, or takes it out", toggle("tool", () => notify().toolsChanged())],
    ["test_trigger_prompt_change", "Adds a prompt, or takes it out", toggle("prompt", () => notify().promptsChanged())],
    ["touch", "Says that a resource has changed", touch, strings("uri")],
    ["test_sampling", "Asks the client's model", askModel(({ prompt }) => prompt, (words) => `LLM response: ${words}`), strings("prompt")],
    ["test_missing_capability", "Needs the client's model", askModel(() => "Are you there?", (words) => `The model says: ${words}`)],
    ["test_elicitation", "Asks the user for a name and an address", askContact, strings("message")],
    ["test_elicitation_sep1034_defaults", "Asks with a default in every field", askForm("Please review", DEFAULTS)],
    ["test_elicitation_sep1330_enums", "Asks for choices of five kinds", askForm("Please choose", CHOICES)],
    ["test_streaming_elicitation", "Logs, then asks the user", logThenAsk],
    ["test_input_required_result_elicitation", "Asks the user for a name", askName(hello, { stateless: true })],
    ["test_input_required_result_sampling", "Asks for a capital", askModel(() => "What is the capital of France?", (words) => words)],
    ["test_input_required_result_list_roots", "Asks the client for its roots", askRoots],
    ["test_input_required_result_request_state", "Asks the user to confirm", askToConfirm],
    ["test_input_required_result_tampered_state", "Asks the user to confirm", askToConfirm],
    ["test_input_required_result_multiple_inputs", "Asks the user, the model and for the roots", askThree],
    ["test_input_required_result_multi_round", "Asks the user twice", askTwice],
    ["test_input_required_result_capabilities", "Asks what the client can answer", askWhatIsDeclared],
    ["json_schema_2020_12_tool", "Has every kind of keyword", (contact) => said(JSON.stringify(contact)), FULL_SCHEMA],
    ["region_report", "Reports on a region", ({ region }) => said(`Report of ${region}`), REGION_SCHEMA],
  ];
  const added = ["added_while_running", "Came while the server was running", () => said("added")];
  return extra.has("tool") ? [...tools, added] : tools;
}

export function addTools(server, notify, extra) {
  for (const [name, description, handler, schema = NOTHING] of catalogue(notify, extra)) {
    server.registerTool(name, { description, inputSchema: fromJsonSchema(schema) }, handler);
  }
}
