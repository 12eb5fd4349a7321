// An MCP server with paid tools, and the SDK's clients connected to it in this process.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { createToolPaywall, paidTool, type ToolPaywall, type ToolPaywallOptions } from "@sotto/mcp/paid-tool";
import { openMerchant } from "@sotto/test-world/merchant";
import type { World } from "@sotto/test-world/wallets";
import { z } from "zod";

export const ORIGIN = "http://tools.example";
export const PRICE = 10_000n;

export interface PaidTools {
  readonly paywall: ToolPaywall;
  /** Arguments of the calls that the handlers have handled. */
  readonly ran: string[];
  /** Determines the outcome of the `forecast` handler. */
  behave: (ran: number) => CallToolResult | Promise<CallToolResult>;
  /** Connects a client. `through` may replace the client's transport. */
  connect(through?: (transport: Transport) => Transport): Promise<Client>;
  received(): Promise<bigint>;
  close(): Promise<void>;
}

const said = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

export async function openPaidTools(
  world: World,
  changes: Partial<Pick<ToolPaywallOptions, "onEvent" | "mpp" | "recipient">> = {},
): Promise<PaidTools> {
  const merchant = await openMerchant(world);
  const paywall = await createToolPaywall({
    origin: ORIGIN,
    ...merchant.paywall,
    ...changes,
  });
  const tools: PaidTools = {
    paywall,
    ran: [],
    behave: () => said("sunny"),
    async connect(through = (transport) => transport) {
      const server = new McpServer({ name: "tools", version: "1.0.0" });
      paidTool(
        server,
        "forecast",
        { paywall, price: PRICE, inputSchema: { city: z.string().max(100), days: z.number().default(1) } },
        ({ city, days }) => {
          tools.ran.push(`${city} ${days}`);
          return tools.behave(tools.ran.length);
        },
      );
      paidTool(server, "archive", { paywall, price: "0.01", inputSchema: { city: z.string() } }, ({ city }) =>
        said(city),
      );
      paidTool(
        server,
        "counted",
        {
          paywall,
          price: ({ words }) => (words === 0 ? "free" : BigInt(words) * 1_000n),
          inputSchema: { words: z.number().int().min(0).max(100) },
          outputSchema: { count: z.number(), paid: z.boolean() },
        },
        ({ words }, _, payment) => ({
          ...said(String(words)),
          structuredContent: { count: words, paid: payment !== undefined },
        }),
      );
      const [one, other] = InMemoryTransport.createLinkedPair();
      const client = new Client({ name: "test", version: "1.0.0" });
      await Promise.all([server.connect(one), client.connect(through(other))]);
      await client.listTools();
      return client;
    },
    received: merchant.received,
    close: () => paywall.close(),
  };
  return tools;
}
