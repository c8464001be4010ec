// What a web page does with an MCP endpoint of another origin: `fetch`, and nothing that only a program outside a browser can do.
//
// The query says which endpoint and what to do; the findings are posted to the server that the page came from.

const MODERN = "2026-07-28";
const PREFIX = "io.modelcontextprotocol/";
const BOTH = "application/json, text/event-stream";
const query = new URLSearchParams(location.search);
const endpoint = query.get("endpoint");

// The messages of an answer, be it JSON or a stream.
async function* messages(response) {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    yield await response.json();
    return;
  }
  let rest = "";
  for await (const piece of pieces(response)) {
    const events = (rest + piece).replaceAll("\r\n", "\n").split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim()).join("\n");
      if (data) yield JSON.parse(data);
    }
  }
}

async function* pieces(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
  }
}

async function all(response) {
  const found = [];
  for await (const message of messages(response)) found.push(message);
  return found;
}

let lastId = 0;

function post(message, headers, options = {}) {
  return fetch(endpoint, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: BOTH, ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    ...options,
  });
}

function modern(method, params = {}, meta = {}) {
  const envelope = { [PREFIX + "protocolVersion"]: MODERN, [PREFIX + "clientCapabilities"]: {}, ...meta };
  const headers = { "MCP-Protocol-Version": MODERN, "Mcp-Method": method };
  if (params.name) headers["Mcp-Name"] = params.name;
  return post({ id: ++lastId, method, params: { ...params, _meta: envelope } }, headers);
}

async function asModern() {
  const [discovered] = await all(await modern("server/discover"));
  const [echoed] = await all(await modern("tools/call", { name: "echo", arguments: { text: "from a page" } }));
  const told = await all(await modern("tools/call", { name: "progress", arguments: {} }, { progressToken: "t" }));
  const refused = await modern("no/such/method");
  return {
    versions: discovered.result.supportedVersions,
    echoed: echoed.result.content[0].text,
    told: told.map((message) => message.params?.progress ?? message.result.content[0].text),
    refused: [refused.status, (await all(refused))[0].error.code],
  };
}

async function asLegacy() {
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "page", version: "1" } };
  const opened = await post({ id: 1, method: "initialize", params: hello }, {});
  const session = opened.headers.get("mcp-session-id");
  const [welcome] = await all(opened);
  const within = { "Mcp-Session-Id": session, "MCP-Protocol-Version": welcome.result.protocolVersion };
  const ready = await post({ method: "notifications/initialized" }, within);
  const hearing = new AbortController();
  const stream = await fetch(endpoint, { headers: { Accept: "text/event-stream", ...within }, signal: hearing.signal });
  const first = messages(stream).next();
  const [changed] = await all(await post({ id: 2, method: "tools/call", params: { name: "mutate", arguments: {} } }, within));
  const heard = (await first).value;
  hearing.abort();
  const ended = await fetch(endpoint, { method: "DELETE", headers: within });
  const after = await post({ id: 3, method: "ping" }, within);
  return {
    session: typeof session,
    version: welcome.result.protocolVersion,
    ready: ready.status,
    stream: [stream.status, stream.headers.get("content-type")],
    changed: changed.result.content[0].text,
    heard: heard.method,
    ended: ended.ok,
    after: after.status,
  };
}

// What a page of an origin that is not allowed can do: ask, and send what needs no leave to be sent.
async function asStranger() {
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text: "smuggled" } } };
  const blind = { method: "POST", mode: "no-cors", body: JSON.stringify(call) };
  const outcome = async (attempt) => {
    try {
      return (await attempt).type;
    } catch (fault) {
      return fault.name;
    }
  };
  return {
    modern: await outcome(modern("tools/call", { name: "echo", arguments: { text: "smuggled" } })),
    legacy: await outcome(post({ id: 1, method: "initialize", params: {} }, {})),
    stream: await outcome(fetch(endpoint, { headers: { Accept: "text/event-stream" } })),
    health: await outcome(fetch(new URL("/healthz", endpoint))),
    blind: await outcome(fetch(endpoint, blind)),
  };
}

let report;
try {
  report = await { modern: asModern, legacy: asLegacy, stranger: asStranger }[query.get("as")]();
} catch (fault) {
  report = { fault: `${fault.name}: ${fault.message}` };
}
await fetch("/report", { method: "POST", body: JSON.stringify({ origin: location.origin, ...report }) });
