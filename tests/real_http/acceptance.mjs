// The acceptance script (see acceptance.py, which describes its steps) with the official TypeScript clients.
//
//   node acceptance.mjs CLIENT URL                CLIENT: modern, auto, legacy (@modelcontextprotocol/client 2.x), v1, v1-sse (…/sdk 1.x)
//   node acceptance.mjs v1-stdio COMMAND WORD…    the client of the first generation starts a server
//
// Prints the report as one line of JSON. The two generations of the client differ in a few signatures, which `open` evens out.

const MODERN = "2026-07-28";
const WATCHED = "demo://watched";
const LOG_LEVEL = "io.modelcontextprotocol/logLevel";
const INFO = { name: "acceptance", version: "1" };
const CAPABILITIES = { elicitation: {}, sampling: {}, roots: {} };
const DEADLINE = 20_000;

async function open(kind, url, words) {
  return kind.startsWith("v1") ? await openFirst(kind, url, words) : await openSecond(kind, url);
}

async function transportOfTheFirst(kind, url, words) {
  if (kind === "v1-stdio") {
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const transport = new StdioClientTransport({ command: url, args: words, env: process.env, stderr: "inherit" });
    transport.setProtocolVersion = (version) => (transport.protocolVersion = version); // only its HTTP transports keep it
    return transport;
  }
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
  return kind === "v1-sse" ? new SSEClientTransport(new URL(url)) : new StreamableHTTPClientTransport(new URL(url));
}

async function openFirst(kind, url, words) {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const schemas = await import("@modelcontextprotocol/sdk/types.js");
  const byMethod = {
    "elicitation/create": schemas.ElicitRequestSchema,
    "sampling/createMessage": schemas.CreateMessageRequestSchema,
    "roots/list": schemas.ListRootsRequestSchema,
    "notifications/message": schemas.LoggingMessageNotificationSchema,
    "notifications/tools/list_changed": schemas.ToolListChangedNotificationSchema,
    "notifications/resources/updated": schemas.ResourceUpdatedNotificationSchema,
  };
  const client = new Client(INFO, { capabilities: CAPABILITIES });
  const transport = await transportOfTheFirst(kind, url, words);
  return {
    client,
    transport,
    answer: (method, handler) => client.setRequestHandler(byMethod[method], handler),
    hear: (method, handler) => client.setNotificationHandler(byMethod[method], handler),
    call: (params, options) => client.callTool(params, undefined, options),
    version: () => transport.protocolVersion ?? transport._protocolVersion,
  };
}

async function openSecond(kind, url) {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const mode = kind === "modern" ? { pin: MODERN } : kind;
  const client = new Client(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  return {
    client,
    transport: new StreamableHTTPClientTransport(new URL(url)),
    answer: (method, handler) => client.setRequestHandler(method, handler),
    hear: (method, handler) => client.setNotificationHandler(method, handler),
    call: (params, options) => client.callTool(params, options),
    version: () => client.getNegotiatedProtocolVersion(),
  };
}

// One run of the script: the client, and what it was told beside answers.
class Visit {
  levels = [];
  told = [];
  action = "accept";
  #waiting = [];

  constructor(way) {
    this.way = way;
    this.client = way.client;
    way.answer("elicitation/create", () => (this.action === "accept" ? { action: "accept", content: { name: "Ada" } } : { action: this.action }));
    way.answer("sampling/createMessage", () => ({
      role: "assistant",
      content: { type: "text", text: "four" },
      model: "small-1",
      stopReason: "endTurn",
    }));
    way.answer("roots/list", () => ({ roots: [{ uri: "file:///home/ada", name: "home" }] }));
    way.hear("notifications/message", (frame) => this.#hear(this.levels, frame.params.level));
    way.hear("notifications/tools/list_changed", () => this.#hear(this.told, "tools"));
    way.hear("notifications/resources/updated", (frame) => this.#hear(this.told, frame.params.uri));
  }

  #hear(list, word) {
    list.push(word);
    this.#waiting = this.#waiting.filter(({ condition, resolve }) => !condition() || resolve());
  }

  wait(condition) {
    return condition() ? undefined : new Promise((resolve) => this.#waiting.push({ condition, resolve }));
  }

  get modern() {
    return this.way.version() === MODERN;
  }

  result(name, args = {}, options = undefined, meta = undefined) {
    return this.way.call(meta === undefined ? { name, arguments: args } : { name, arguments: args, _meta: meta }, options);
  }

  async call(...rest) {
    return (await this.result(...rest)).content[0].text;
  }
}

async function everyPage(listing, of) {
  const found = [];
  let cursor;
  do {
    const page = await listing(cursor === undefined ? undefined : { cursor });
    found.push(...page[of]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

async function refusal(attempt) {
  try {
    await attempt;
  } catch (fault) {
    return fault.code ?? String(fault);
  }
  return null;
}

const STEPS = {
  connect: (visit) => visit.way.version(),

  whoami: async (visit) => JSON.parse(await visit.call("whoami")).clientInfo.name,

  tools: async (visit) => {
    visit.names = (await everyPage((params) => visit.client.listTools(params), "tools")).map((tool) => tool.name);
    return [visit.names.slice(0, 3), visit.names.includes("structured"), new Set(visit.names).size < visit.names.length];
  },

  prompts: async (visit) => (await everyPage((params) => visit.client.listPrompts(params), "prompts")).map((prompt) => prompt.name),

  resources: async (visit) => (await everyPage((params) => visit.client.listResources(params), "resources")).map((resource) => resource.uri),

  templates: async (visit) =>
    (await everyPage((params) => visit.client.listResourceTemplates(params), "resourceTemplates")).map((template) => template.uriTemplate),

  plain: (visit) => visit.call("echo", { text: "grüße \u2028 ok" }),

  structured: async (visit) => (visit.names.includes("structured") ? (await visit.result("structured")).structuredContent : null),

  progress: async (visit) => {
    const order = [];
    order.push(await visit.call("progress", {}, { onprogress: ({ progress }) => order.push(progress) }));
    return order;
  },

  log: async (visit) => {
    if (!visit.modern) await visit.client.setLoggingLevel("error");
    await visit.call("log", {}, undefined, visit.modern ? { [LOG_LEVEL]: "error" } : undefined);
    await visit.wait(() => visit.levels.length >= 4);
    return visit.levels;
  },

  failed: async (visit) => {
    const result = await visit.result("fails");
    return [result.isError, result.content[0].text];
  },

  unknown: (visit) => refusal(visit.result("no such tool")),

  text: async (visit) => (await visit.client.readResource({ uri: "demo://text" })).contents[0].text,

  blob: async (visit) => (await visit.client.readResource({ uri: "demo://blob" })).contents[0].blob,

  missing: (visit) => refusal(visit.client.readResource({ uri: "demo://nothing" })),

  prompt: async (visit) => {
    const { messages } = await visit.client.getPrompt({ name: "greet", arguments: { name: "Ada", tone: "loudly" } });
    return messages.map((message) => message.content.text);
  },

  completion: async (visit) => {
    const argument = { name: "name", value: "al" };
    return (await visit.client.complete({ ref: { type: "ref/prompt", name: "greet" }, argument })).completion.values;
  },

  accepted: async (visit) => {
    visit.action = "accept";
    return visit.names.includes("ask_form") ? JSON.parse(await visit.call("ask_form", { fields: "one" })) : null;
  },

  declined: async (visit) => {
    visit.action = "decline";
    return visit.names.includes("ask_form") ? JSON.parse(await visit.call("ask_form", { fields: "one" })) : null;
  },

  sampled: async (visit) => JSON.parse(await visit.call("ask_sampling")),

  roots: async (visit) => JSON.parse(await visit.call("ask_roots")),

  list_changed: async (visit) => {
    const subscription = visit.modern ? await visit.client.listen({ toolsListChanged: true }) : undefined;
    await visit.call("mutate");
    await visit.wait(() => visit.told.includes("tools"));
    await subscription?.close();
    const listed = await everyPage((params) => visit.client.listTools(params), "tools");
    return listed.map((tool) => tool.name).filter((name) => !visit.names.includes(name));
  },

  updated: async (visit) => {
    if (visit.modern) visit.subscription = await visit.client.listen({ resourceSubscriptions: [WATCHED] });
    else await visit.client.subscribeResource({ uri: WATCHED });
    await visit.call("touch", { uri: WATCHED });
    await visit.wait(() => visit.told.includes(WATCHED));
    return visit.told.at(-1);
  },

  unsubscribed: async (visit) => {
    if (visit.modern) await visit.subscription.close();
    else await visit.client.unsubscribeResource({ uri: WATCHED });
    // A modern stream is ended by hanging up, which the other side learns a moment later.
    let said = "";
    while (said !== "nobody subscribed") said = await visit.call("touch", { uri: WATCHED });
    return said;
  },

  cancelled: async (visit) => {
    const cancel = new AbortController();
    await refusal(visit.result("slow", {}, { signal: cancel.signal, onprogress: () => cancel.abort("enough") }));
    return await visit.call("await_cancels", { count: 1 });
  },

  together: (visit) => Promise.all(["a", "b"].map((label) => visit.call("barrier", { count: 2, label }))),

  ping: async (visit) => {
    if (visit.modern) return null;
    await visit.client.ping();
    return true;
  },
};

async function within(step, name, report) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing within ${DEADLINE} ms`)), DEADLINE);
  });
  try {
    return await Promise.race([step, late]);
  } catch (fault) {
    console.error(`in the step ${name}, after ${JSON.stringify(report)}`);
    throw fault;
  } finally {
    clearTimeout(timer);
  }
}

const [kind, url, ...words] = process.argv.slice(2);
const way = await open(kind, url, words);
const visit = new Visit(way);
way.client.onerror = (fault) => console.error(`onerror: ${fault}`);
const report = {};
await within(way.client.connect(way.transport), "connecting", report);
for (const [name, step] of Object.entries(STEPS)) report[name] = await within(step(visit), name, report);
way.client.onerror = undefined; // from here on it tells of its own hanging up
if (!visit.modern && way.transport.terminateSession) await within(way.transport.terminateSession(), "the end of the session", report);
await within(way.client.close(), "closing", report);
console.log(JSON.stringify(report));
