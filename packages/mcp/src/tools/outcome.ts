import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { type Agent, reported } from "../agent/agent.ts";
import type { LimitsLeft } from "../agent/limits.ts";
import { REVEALED, revealedInWords } from "../agent/revealed.ts";
import { AMOUNT, inWords } from "../agent/token.ts";

const ERROR = z.object({ code: z.string(), message: z.string() });

export const LIMITS_LEFT = z.object({
  per_request: AMOUNT,
  approve_above: AMOUNT,
  left_today: AMOUNT.describe("of the day, UTC"),
  left_this_hour: AMOUNT.nullable().describe("of the hour, UTC; null: only the limit for the day applies"),
  left_for_host: AMOUNT.nullable().describe("of the day; null: the call concerned no host"),
  left_for_tool: AMOUNT.nullable().describe("of the day; null: the tool has no limit of its own"),
  hour_ends: z.string().describe("ISO 8601"),
  day_ends: z.string().describe("ISO 8601"),
}) satisfies z.ZodType<LimitsLeft>;

/** What every tool that can pay reports. */
export const PAYING = {
  outcome: z
    .enum(["paid", "token", "free", "quoted", "failed"])
    .describe(
      "paid: money was spent, see `paid`. token: a prepaid token was spent, see `token`. free: nothing was asked. " +
        "quoted: nothing was paid. failed: see `error`",
    ),
  error: ERROR.nullable(),
  paid: AMOUNT.nullable(),
  token: AMOUNT.nullable().describe(
    "value of the prepaid token that was spent; it was paid for when its pack was bought",
  ),
  transaction: z.string().nullable(),
  receipt: z.string().nullable().describe("read the resource sotto://receipts/ID for it"),
  revealed: z.array(REVEALED),
  limits: LIMITS_LEFT.nullable(),
};
const PAYING_OBJECT = z.object(PAYING);
export type PayingOutcome = z.infer<typeof PAYING_OBJECT>;

/** The facts of a paying call in words, for models that read no structured content. */
export function payingInWords({ error, paid, token, transaction, receipt, revealed, limits }: PayingOutcome): string[] {
  return [
    ...(error === null ? [] : [`Failed: ${error.code}: ${error.message}.`]),
    ...(token === null ? [] : [`Spent a prepaid token of ${inWords(token)}.`]),
    paid === null
      ? "Nothing was paid by this call."
      : `Paid ${inWords(paid)} (${paid.amount} base units) in transaction ${transaction}${receipt === null ? "" : `, receipt ${receipt}`}.`,
    ...revealedInWords(revealed),
    ...(limits === null ? [] : [limitsInWords(limits)]),
  ];
}

export function limitsInWords(limits: LimitsLeft): string {
  const { per_request, left_today, left_this_hour, left_for_host, left_for_tool, approve_above } = limits;
  const more = [
    ...(left_this_hour === null ? [] : [`this hour ${inWords(left_this_hour)} (until ${limits.hour_ends})`]),
    ...(left_for_host === null ? [] : [`for this host ${inWords(left_for_host)}`]),
    ...(left_for_tool === null ? [] : [`for this tool ${inWords(left_for_tool)}`]),
  ];
  return (
    `Limits: ${inWords(per_request)} a request; left ${[`today ${inWords(left_today)}`, ...more].join(", ")}; ` +
    `a person approves above ${inWords(approve_above)}.`
  );
}

/** The result of a call that was refused before it began. */
export function refusedCall(agent: Agent, error: unknown, more: Readonly<Record<string, null>>): CallToolResult {
  const outcome: PayingOutcome = {
    outcome: "failed",
    error: reported(error, agent),
    paid: null,
    token: null,
    transaction: null,
    receipt: null,
    revealed: [],
    limits: null,
  };
  const text = payingInWords(outcome).join("\n");
  return { isError: true, content: [{ type: "text", text }], structuredContent: { ...outcome, ...more } };
}
