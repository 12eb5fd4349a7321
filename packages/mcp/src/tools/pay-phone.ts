import { createHash } from "node:crypto";
import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { assertSpendable, PHONE_HOST, payPhone, phoneNumberOf } from "@sotto/client";
import { assertAmount } from "@sotto/protocol";
import { SottoService, type Wallet } from "@sotto/wallet";
import { z } from "zod";
import { type Agent, reported, serviceOf } from "../agent/agent.ts";
import type { Extra } from "../agent/approval.ts";
import { limitsLeft, spendingLimits } from "../agent/limits.ts";
import type { Once } from "../agent/once.ts";
import { toChain, toRegistry, toService } from "../agent/revealed.ts";
import { amountOf, inWords } from "../agent/token.ts";
import { strictArguments } from "../strict-arguments.ts";
import { PayingCall } from "./call.ts";
import { BASE_UNITS, KEY, TIMEOUT, TIMEOUT_MS } from "./fetch-arguments.ts";
import { PAYING, payingInWords, refusedCall } from "./outcome.ts";

const TOOL = "pay_phone";

const ARGUMENTS = {
  phone: z.string().min(5).max(32).describe("in international form, such as +14155550142"),
  amount: BASE_UNITS.describe("base units"),
  idempotency_key: KEY.describe("names this payment: the same key pays this number at most once, forever"),
  timeout_ms: TIMEOUT.optional(),
};
const ARGUMENTS_OBJECT = z.object(ARGUMENTS);
type PhoneArguments = z.infer<typeof ARGUMENTS_OBJECT>;

const OUTPUT = { ...PAYING, recipient: z.string().nullable().describe("the wallet that was paid") };
const OUTPUT_OBJECT = z.object(OUTPUT);
type Output = z.infer<typeof OUTPUT_OBJECT>;

/** Registers the tool `pay_phone`, for agents with a registry. */
export function registerPayPhone(mcp: McpServer, agent: Agent, registry: string, once: Once<CallToolResult>): void {
  mcp.registerTool(
    TOOL,
    {
      title: "Pay a phone number",
      description:
        `Pays an amount to a phone number, privately. The registry ${registry} looks the number up and so learns it. The ` +
        "wallet's limits and approval apply as for fetch_paid.",
      inputSchema: strictArguments(ARGUMENTS),
      outputSchema: OUTPUT,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    async (args: PhoneArguments, extra: Extra) => {
      const fingerprint = createHash("sha256").update(JSON.stringify(args)).digest("hex");
      try {
        return await once.run(`${TOOL} ${args.idempotency_key}`, fingerprint, () =>
          pay(mcp, agent, registry, args, extra),
        );
      } catch (error) {
        return refusedCall(agent, error, { recipient: null });
      }
    },
  );
}

async function pay(
  mcp: McpServer,
  agent: Agent,
  registry: string,
  args: PhoneArguments,
  extra: Extra,
): Promise<CallToolResult> {
  const call = new PayingCall(agent, mcp.server, extra, args.timeout_ms ?? TIMEOUT_MS);
  const state: State = { asked: false };
  try {
    return await call.withWallet(
      async (wallet, attend) => {
        await attend();
        const { wallet: recipient, txSignature, amount } = await send(agent, wallet, registry, args, call, state);
        call.paid = { amount, transaction: txSignature };
        return report(agent, wallet, registry, call, state, { outcome: "paid", recipient });
      },
      (wallet, error) =>
        report(agent, wallet, registry, call, state, { outcome: "failed", error: reported(error, agent) }),
    );
  } catch (error) {
    return report(agent, undefined, registry, call, state, { outcome: "failed", error: reported(error, agent) });
  } finally {
    call.end();
  }
}

/** Whether the registry was asked. */
interface State {
  asked: boolean;
}

async function send(
  agent: Agent,
  wallet: Wallet,
  registryUrl: string,
  args: PhoneArguments,
  call: PayingCall,
  state: State,
) {
  const phone = phoneNumberOf(args.phone);
  const amount = assertAmount(BigInt(args.amount), "amount");
  const limits = spendingLimits(agent.limits, TOOL);
  const { chainId } = agent;
  const service = new SottoService(serviceOf(agent), { chainId });
  const key = `mcp ${args.idempotency_key}`;
  const confirmPayment = async () => {
    await assertSpendable(wallet.store, limits, amount, { now: wallet.now(), host: PHONE_HOST });
    if (amount > agent.limits.approveAbove)
      call.needApproval(`Pay ${inWords(amountOf(amount, agent.token))} to ${phone}?`);
    state.asked = true;
    return true;
  };
  const registry = new SottoService(registryUrl, { chainId });
  return payPhone(
    wallet,
    service,
    { phone, amount, key, registry, limits },
    {
      signal: call.signal,
      merge: true,
      onProgress: call.onProgress,
      confirmPayment,
      confirmChange: async ({ known, offered }) => {
        const what =
          known.wallet === offered.wallet ? "another key of the same wallet" : `the wallet ${offered.wallet}`;
        call.needApproval(
          `${phone} was paid at the wallet ${known.wallet} before and now leads to ${what}. Confirm the change with the ` +
            "number's holder over another channel. Accept the change?",
        );
        return true;
      },
    },
  );
}

async function report(
  agent: Agent,
  wallet: Wallet | undefined,
  registry: string,
  call: PayingCall,
  state: State,
  facts: Partial<Output> & Pick<Output, "outcome">,
): Promise<CallToolResult> {
  const { paid } = call;
  const { token, service } = agent;
  const output: Output = {
    error: null,
    paid: paid === undefined ? null : amountOf(paid.amount, token),
    token: null,
    transaction: paid?.transaction ?? null,
    receipt:
      paid === undefined
        ? null
        : (wallet?.history().find(({ transactionHash }) => transactionHash === paid.transaction)?.id ?? null),
    revealed: [
      ...(state.asked ? [toRegistry(registry)] : []),
      ...(call.atService && service !== undefined ? [toService(service)] : []),
      ...(call.atService && wallet !== undefined
        ? [toChain(`chain ${wallet.pool.chainId}, pool ${wallet.pool.pool}`)]
        : []),
    ],
    limits:
      wallet === undefined ? null : await limitsLeft(wallet, agent.limits, token, { host: PHONE_HOST, tool: TOOL }),
    recipient: null,
    ...facts,
  };
  return {
    content: [{ type: "text", text: payingInWords(output).join("\n") }],
    structuredContent: output,
    ...(output.outcome === "failed" ? { isError: true } : {}),
  };
}
