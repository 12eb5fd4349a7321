// The tools that spend nothing: balance, history, receive.
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { chargeEntries, listCharges, listPrepaid } from "@sotto/prepaid/client";
import { quoted } from "@sotto/protocol";
import { type ChargeEntry, oldestFirst, type PaymentEntry } from "@sotto/wallet/receipts";
import { z } from "zod";
import type { Agent } from "../agent/agent.ts";
import { limitsLeft, type NamedLeft, namedLeft } from "../agent/limits.ts";
import { AMOUNT, amountOf, inWords, type Token } from "../agent/token.ts";
import { AgentError } from "../errors.ts";
import { strictArguments } from "../strict-arguments.ts";
import { answered, READ_ONLY } from "./answered.ts";
import { LIMITS_LEFT, limitsInWords } from "./outcome.ts";

const NAMED_LEFT = z.object({ name: z.string(), limit: AMOUNT, left: AMOUNT }) satisfies z.ZodType<NamedLeft>;

const BALANCE = {
  spendable: AMOUNT.describe("can be spent now"),
  held: AMOUNT.describe("reserved by payments that may still settle"),
  queued: AMOUNT.describe("becomes spendable soon"),
  pending: AMOUNT.describe("waits for confirmations"),
  total: AMOUNT,
  prepaid: z
    .array(
      z.object({
        origin: z.string(),
        unspent: AMOUNT,
        underway: AMOUNT.describe("part of unspent: change that has not arrived"),
        charged: AMOUNT.describe("what the merchant charged for metered requests so far"),
        stopped: z.string().nullable(),
      }),
    )
    .describe("prepaid tokens by merchant, not part of total; stopped: the code of the reason, or null"),
  limits: LIMITS_LEFT,
  hosts: z.array(NAMED_LEFT).describe("hosts with a limit of their own for the day"),
  tools: z.array(NAMED_LEFT).describe("tools with a limit of their own for the day"),
};

function registerBalance(mcp: McpServer, agent: Agent): void {
  const { token } = agent;
  mcp.registerTool(
    "balance",
    {
      title: "Balance",
      description:
        "Shows the wallet's balance, and what is left of the limits of this hour and today. Reveals nothing to merchants.",
      inputSchema: strictArguments({}),
      outputSchema: BALANCE,
      annotations: READ_ONLY,
    },
    (_, extra) =>
      answered(agent, () =>
        agent.use(async (wallet) => {
          await wallet.scan({ signal: extra.signal });
          const { spendable, held, queued, pending, total } = wallet.balance();
          const { limits } = agent;
          const left = await limitsLeft(wallet, limits, token, undefined);
          const { hosts, tools } = await namedLeft(wallet, limits, token);
          const charged = new Map<string, bigint>();
          for (const { origin, charge } of await listCharges(wallet))
            charged.set(origin, (charged.get(origin) ?? 0n) + charge);
          const prepaid = (await listPrepaid(wallet)).map(({ origin, unspent, underway, stopped }) => ({
            origin: quoted(origin, 259),
            unspent: amountOf(unspent, token),
            underway: amountOf(underway, token),
            charged: amountOf(charged.get(origin) ?? 0n, token),
            stopped: stopped?.code ?? null,
          }));
          const text = [
            `Spendable: ${inWords(amountOf(spendable, token))} of ${inWords(amountOf(total, token))} in total.`,
            ...prepaid.map(({ origin, unspent, underway, charged: sum, stopped }) => {
              const state = stopped === null ? "" : `, stopped: ${stopped}`;
              const change =
                underway.amount === "0" ? "" : `; at most ${inWords(underway)} of it is change that has not arrived`;
              const metered = sum.amount === "0" ? "" : `; charged for metered requests: ${inWords(sum)}`;
              return `Prepaid tokens at ${origin}: ${inWords(unspent)}${state}${change}${metered}.`;
            }),
            limitsInWords(left),
            ...hosts.map(({ name, left: some }) => `Left today for the host ${name}: ${inWords(some)}.`),
            ...tools.map(({ name, left: some }) => `Left today for the tool ${name}: ${inWords(some)}.`),
          ];
          return {
            content: [{ type: "text", text: text.join("\n") }],
            structuredContent: {
              spendable: amountOf(spendable, token),
              held: amountOf(held, token),
              queued: amountOf(queued, token),
              pending: amountOf(pending, token),
              total: amountOf(total, token),
              prepaid,
              limits: left,
              hosts,
              tools,
            },
          };
        }, extra.signal),
      ),
  );
}

const PAYMENT = z.object({
  kind: z.literal("payment"),
  id: z.string(),
  direction: z.enum(["out", "in"]),
  state: z.string(),
  amount: AMOUNT,
  recipient: z.string().describe("wallet address; empty for incoming payments"),
  resource: z.string().describe("what was paid for, as the merchant wrote it; empty for incoming payments"),
  transaction: z.string(),
  time: z.string().describe("ISO 8601"),
});
const CHARGE = z.object({
  kind: z.literal("charge"),
  id: z.string(),
  charge: AMOUNT.describe("what the merchant charged for a metered request"),
  recipient: z.string().describe("wallet address of the merchant"),
  resource: z.string().describe("URL of the request"),
  time: z.string().describe("when the request was sent, ISO 8601"),
});
const HISTORY = {
  payments: z
    .array(z.discriminatedUnion("kind", [PAYMENT, CHARGE]))
    .describe(
      "a payment of this list bought the tokens from which charges are spent: add up `charge` apart from `amount`",
    ),
  next_cursor: z.string().nullable(),
};
type Shown = z.infer<typeof PAYMENT> | z.infer<typeof CHARGE>;
const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;

function registerHistory(mcp: McpServer, agent: Agent): void {
  const { token } = agent;
  mcp.registerTool(
    "history",
    {
      title: "Payments",
      description:
        "Lists payments of this wallet and what it was charged for metered requests, newest first, page by page.",
      inputSchema: strictArguments({
        limit: z.number().int().min(1).max(MAX_PAGE).optional().describe(`entries on a page, default ${DEFAULT_PAGE}`),
        cursor: z.string().max(128).optional().describe("next_cursor of the previous page"),
        direction: z
          .enum(["out", "in"])
          .optional()
          .describe("out: payments by this wallet, and what it was charged. in: payments to it. Default: all"),
      }),
      outputSchema: HISTORY,
      annotations: READ_ONLY,
    },
    ({ limit = DEFAULT_PAGE, cursor, direction }, extra) =>
      answered(agent, () =>
        agent.use(async (wallet) => {
          await wallet.scan({ signal: extra.signal });
          const found = await wallet.payments({ decimals: token.decimals, direction });
          const charges = direction === "in" ? [] : await chargeEntries(wallet, token.decimals);
          const all = [...found, ...charges].sort(oldestFirst).reverse();
          const last = cursor === undefined ? -1 : all.findIndex(({ id }) => id === cursor);
          if (cursor !== undefined && last === -1)
            throw new AgentError(
              "ARGUMENT_INVALID",
              "cursor does not come from an earlier page; start again without it",
            );
          const page = all.slice(last + 1, last + 1 + limit).map((entry) => shownEntry(entry, token));
          const more = last + 1 + limit < all.length;
          const text = page.map(entryInWords);
          return {
            content: [{ type: "text", text: text.length === 0 ? "No payments." : text.join("\n") }],
            structuredContent: { payments: page, next_cursor: more ? (page.at(-1)?.id ?? null) : null },
          };
        }, extra.signal),
      ),
  );
}

function shownEntry(entry: PaymentEntry | ChargeEntry, token: Token): Shown {
  const { id, recipientWallet: recipient } = entry;
  const resource = quoted(entry.resource, 2_048);
  if (entry.kind === "charge")
    return { kind: "charge", id, charge: amountOf(entry.charge, token), recipient, resource, time: entry.begun };
  const { direction, state, transaction } = entry;
  const [amount, time] = [amountOf(entry.amount, token), entry.settled || entry.begun];
  return { kind: "payment", id, direction, state, amount, recipient, resource, transaction, time };
}

function entryInWords(entry: Shown): string {
  const { id, resource, time } = entry;
  const what =
    entry.kind === "charge"
      ? `charge ${inWords(entry.charge)}`
      : `${entry.direction} ${inWords(entry.amount)} ${entry.state}`;
  return `${time} ${what} ${id}${resource === "" ? "" : ` for ${resource}`}`;
}

const RECEIVE = { shielded_address: z.string(), chain_id: z.string(), pool: z.string(), token: z.string() };

function registerReceive(mcp: McpServer, agent: Agent): void {
  mcp.registerTool(
    "receive",
    {
      title: "Receive",
      description: "Shows the wallet's public shielded address, to which others pay privately.",
      inputSchema: strictArguments({}),
      outputSchema: RECEIVE,
      annotations: READ_ONLY,
    },
    (_, extra) =>
      answered(agent, () =>
        agent.use(
          async ({ shieldedAddress, pool }) => ({
            content: [
              {
                type: "text",
                text:
                  `Shielded address: ${shieldedAddress}\nPayers with a wallet in pool ${pool.pool} on chain ${pool.chainId} ` +
                  "pay it with `sotto send AMOUNT --to ADDRESS`. The address is public; it does not show the balance.",
              },
            ],
            structuredContent: {
              shielded_address: shieldedAddress,
              chain_id: String(pool.chainId),
              pool: pool.pool,
              token: pool.token,
            },
          }),
          extra.signal,
        ),
      ),
  );
}

export function registerWalletTools(mcp: McpServer, agent: Agent): void {
  registerBalance(mcp, agent);
  registerHistory(mcp, agent);
  registerReceive(mcp, agent);
}
