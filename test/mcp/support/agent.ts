// An agent: the SDK's MCP client, connected in this process to a server with one of the world's wallets.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { type CallToolResult, ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js";
import { type AgentOptions, createServer } from "@sotto/mcp";
import type { World } from "@sotto/test-world/wallets";
import type { Wallet } from "@sotto/wallet";
import { expect } from "chai";

/** The report of a paying tool. */
export interface Report {
  readonly outcome: "paid" | "token" | "free" | "quoted" | "failed";
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly paid: { readonly amount: string; readonly decimal: string; readonly token: string } | null;
  /** Value of the prepaid token that was spent. */
  readonly token: Report["paid"];
  readonly transaction: string | null;
  readonly receipt: string | null;
  readonly revealed: readonly { readonly to: string; readonly who: string; readonly what: readonly string[] }[];
  readonly limits: Readonly<
    Record<"left_today" | "left_this_hour" | "left_for_host" | "left_for_tool", { readonly amount: string } | null>
  >;
  readonly response: { readonly status: number; readonly bytes: number; readonly truncated: boolean } | null;
  readonly quote: {
    readonly price: { readonly amount: string };
    readonly host: string;
    readonly recipient: string;
    readonly needs_approval: boolean;
    readonly refused: string | null;
  } | null;
}

/** Answers a question in place of the person at the client. */
export type Person = (question: string) => ElicitResult | Promise<ElicitResult>;

export const approves: Person = () => ({ action: "accept", content: { approve: true } });

/** A client with a person, or one that cannot ask. */
export function clientWith(person?: Person): Client {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { capabilities: person === undefined ? {} : { elicitation: { form: {} } } },
  );
  if (person !== undefined)
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => Promise.resolve(person(params.message)));
  return client;
}

export const textOf = ({ content }: Pick<CallToolResult, "content">): string =>
  content.map((part) => (part.type === "text" ? part.text : "")).join("\n");

/** Calls a tool. The SDK's client checks the result against the tool's schema. */
export async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const result = (await client.callTool({ name, arguments: args })) as CallToolResult;
  return { result, report: result.structuredContent as unknown as Report, text: textOf(result) };
}

export async function fails(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const { result, report } = await call(client, name, args);
  expect(result.isError, textOf(result)).to.equal(true);
  expect(report.paid).to.equal(null);
  return report.error!.code;
}

export async function openAgent(
  world: World,
  wallet: Wallet,
  { person, ...options }: Partial<AgentOptions> & { person?: Person } = {},
): Promise<Client> {
  const server = createServer({
    wallet,
    token: { decimals: 6, symbol: "USDC" },
    chainId: BigInt(world.chainId),
    service: world.serviceUrl,
    onError: (error) => {
      throw error;
    },
    ...options,
  });
  const [one, other] = InMemoryTransport.createLinkedPair();
  const client = clientWith(person);
  await Promise.all([server.connect(one), client.connect(other)]);
  await client.listTools();
  return client;
}
