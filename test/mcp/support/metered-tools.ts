// An MCP server on HTTP whose tools have metered prices, at the origin that sells tokens and gives change.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { createToolPaywall, paidTool, type ToolPaywall } from "@sotto/mcp/paid-tool";
import type { MeteredRule } from "@sotto/prepaid";
import { meteredBy } from "@sotto/prepaid/server";
import type { Meter, Payment, PaywallEvent } from "@sotto/resource-server";
import { sotto } from "@sotto/resource-server/express";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { openMerchant } from "@sotto/test-world/merchant";
import { createCredit, WORDS } from "@sotto/test-world/metered-server";
import type { World } from "@sotto/test-world/wallets";
import { z } from "zod";

/** Twice the price of a word. */
const DOUBLE: MeteredRule = { ...WORDS, units: [{ name: "words", price: 2_000n, per: 1 }] };

export interface MeteredTools {
  readonly origin: string;
  readonly paywall: ToolPaywall;
  readonly events: readonly PaywallEvent[];
  /** What the handlers got. */
  readonly ran: { readonly tool: string; readonly payment: Payment; readonly meta: object }[];
  /** Ends a call of `write` or `double` after its words were counted. */
  behave: (meter: Meter, signal: AbortSignal) => CallToolResult | Promise<CallToolResult>;
  connect(): Promise<Client>;
  /** Total of the payments that the merchant received on chain, base units. */
  received(): Promise<bigint>;
  close(): Promise<void>;
}

export const said = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/**
 * Opens a server whose tools `write` and `double` charge for each word that they are asked for, and whose tool `exact` costs
 * 1,000 base units.
 */
export async function openMeteredTools(world: World): Promise<MeteredTools> {
  const { account, paywall: options, received } = await openMerchant(world);
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const place = { chainId: BigInt(world.chainId), pool: world.pool as `0x${string}`, origin };
  const methods = await createCredit(account, place, [
    { method: "POST", path: "/mcp/tool/write", rule: WORDS },
    { method: "POST", path: "/mcp/tool/double", rule: DOUBLE },
  ]);
  const events: PaywallEvent[] = [];
  const paywall = await createToolPaywall({
    ...options,
    ...{ origin, methods, onEvent: (event) => void events.push(event) },
    store: `sqlite:${join(temporaryFolder("tools"), "payments.sqlite")}`,
  });
  const tools: MeteredTools = {
    ...{ origin, paywall, events, received, ran: [], behave: () => said("written") },
    async connect() {
      const client = new Client({ name: "test", version: "1.0.0" });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`)) as never);
      await client.listTools();
      return client;
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await paywall.close();
    },
  };
  const createTools = (): McpServer => {
    const server = new McpServer({ name: "tools", version: "1.0.0" });
    for (const [name, rule] of [
      ["write", WORDS],
      ["double", DOUBLE],
    ] as const)
      paidTool(
        server,
        name,
        { paywall, price: meteredBy(rule), inputSchema: { words: z.number().int() } },
        async ({ words }, extra, payment) => {
          tools.ran.push({ tool: name, payment: payment!, meta: { ...extra._meta } });
          const { meter } = payment!;
          for (let word = 0; word < words && meter!.add({ words: 1 }); word += 1);
          return tools.behave(meter!, extra.signal);
        },
      );
    paidTool(server, "exact", { paywall, price: 1_000n }, (_, { _meta }, payment) => {
      tools.ran.push({ tool: "exact", payment: payment!, meta: { ..._meta } });
      return said("exact");
    });
    return server;
  };
  const serve = sotto(paywall);
  // A session keeps its server, so that a client can cancel its calls.
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  http.on("request", (request, response) =>
    serve(request, response, async () => {
      const known = sessions.get(String(request.headers["mcp-session-id"]));
      const transport =
        known ??
        new StreamableHTTPServerTransport({
          sessionIdGenerator: () => crypto.randomUUID(),
          onsessioninitialized: (id) => void sessions.set(id, transport),
        });
      if (known === undefined) await createTools().connect(transport as never);
      await transport.handleRequest(request, response);
    }),
  );
  return tools;
}
