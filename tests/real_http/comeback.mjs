// The first generation of the client does not count an error as the answer: after one on a stream it comes back for the rest of that stream.
//
//   node comeback.mjs URL      Prints how that was answered, and whether a change is still heard of on the session's own stream.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [url] = process.argv.slice(2);
let cameBack;
const back = new Promise((resolve) => (cameBack = resolve));
let streamed = false;
const watched = async (to, options) => {
  const answer = await fetch(to, options);
  if (options.method === "POST") streamed = answer.headers.get("content-type") === "text/event-stream";
  if (new Headers(options.headers).has("last-event-id")) cameBack(answer.status);
  return answer;
};

const client = new Client({ name: "comeback", version: "1" });
const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: watched });
const heard = new Promise((resolve) => client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve(true)));
await client.connect(transport);
let code;
do {
  // An answer that is there before the wait of no time is over is still JSON.
  code = await client.callTool({ name: "no such tool", arguments: {} }).catch((fault) => fault.code);
} while (!streamed);
const status = await back;
await client.callTool({ name: "mutate", arguments: {} });
console.log(JSON.stringify({ code, status, heard: await heard }));
await transport.terminateSession();
await client.close();
