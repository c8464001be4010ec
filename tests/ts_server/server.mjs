// A modern-only server (2026-07-28) on the official TypeScript SDK, reached by URL:
//
//   node server.mjs [--port N] [--responses auto|json|sse]
//
// It prints its URL as one line. Legacy clients are refused by the SDK (`legacy: "reject"`). A fresh McpServer answers each request, so
// what lasts longer than a request is here: the extra tool and prompt, and the streams that are told of them.

import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import { createServer } from "node:http";
import { parseArgs } from "node:util";

import { addPrompts, addResources } from "./content.mjs";
import { codec } from "./rounds.mjs";
import { addTools } from "./tools.mjs";

const { values: options } = parseArgs({
  options: { port: { type: "string", default: "0" }, responses: { type: "string", default: "auto" } },
});
const extra = new Set();

function serverOfOneRequest() {
  const capabilities = {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    logging: {},
    completions: {},
  };
  const server = new McpServer({ name: "ts-server", version: "1.0.0" }, { capabilities, requestState: { verify: codec.verify } });
  addTools(server, () => mcp.notify, extra);
  addResources(server);
  addPrompts(server, extra);
  return server;
}

const mcp = createMcpHandler(serverOfOneRequest, {
  legacy: "reject",
  responseMode: options.responses,
  onerror: (fault) => console.error(`ts-server: ${fault.message}`),
});
const answer = toNodeHandler(mcp);
const hostIsOurs = localhostHostValidation();
const originIsOurs = localhostOriginValidation();

const http = createServer((request, response) => {
  if (!hostIsOurs(request, response) || !originIsOurs(request, response)) return;
  if (new URL(request.url, "http://localhost").pathname !== "/mcp") response.writeHead(404).end();
  else void answer(request, response);
});
http.listen(Number(options.port), "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, async () => {
    await mcp.close();
    http.close();
    http.closeAllConnections();
  });
}
