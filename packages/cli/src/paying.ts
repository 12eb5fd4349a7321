import { type PurchaseProgress, type PurchaseStage, wrapFetch } from "@sotto/client";
import { MAX_AMOUNT, type PaymentInstructions, parseInstructions, readBody } from "@sotto/protocol";
import { askLine, canAsk, YES } from "./ask.ts";
import type { Context } from "./command.ts";
import { amountFields, money } from "./format.ts";
import { CliError, usage } from "./frame/errors.ts";
import { printable } from "./frame/output.ts";
import type { Config } from "./home/config.ts";
import { type Session, serviceOf } from "./session.ts";

/** Options of the commands that pay for a request. */
export const PAYING = {
  max: { value: "AMOUNT", help: "most it may cost; without a terminal, or with --yes, it has to be said" },
  "max-day": { value: "AMOUNT", help: "most this wallet may spend in a day (UTC)" },
  "max-host": { value: "AMOUNT", help: "most it may spend at this host in a day" },
  key: { value: "TEXT", help: "names the purchase: under one key something is paid once, for ever" },
  "new-recipient": { help: "accepts that the host is paid under another wallet than before" },
  merge: { help: "joins notes first where no single one is enough" },
  registry: { value: "URL", help: "asked where a shop names a phone number; default: the service" },
  ...YES,
} as const;

/** Bytes of a 402 that are read; one of the interface has some 2,000. */
const MAX_RESPONSE_BYTES = 65_536;
const MOST_MS = 30_000;

/** What was paid for an answer. */
export interface Paid {
  amount: bigint;
  resource: string;
  transaction: string;
}

export const STAGES: Readonly<Record<PurchaseStage, string>> = {
  challenge: "the server asks for a payment",
  recipient: "its recipient is checked",
  split: "making notes for payments in parallel",
  funds: "waiting for a note that can be spent",
  proving: "proving",
  verifying: "the service checks the proof",
  settling: "settling",
  confirming: "looking for it on chain",
  paid: "paid",
  presenting: "asking again, with the proof",
  retrying: "the server failed: once more, with the same proof",
  delivered: "delivered",
};

export interface Limits {
  max: bigint | undefined;
  maxDay: bigint | undefined;
  maxHost: bigint | undefined;
}

/** @throws CliError USAGE, NOT_CONFIRMED: somebody has to say what it may cost, before or when asked */
export function readLimits(context: Context, { decimals }: Config): Limits {
  const { args } = context;
  const max = args.amount("max", decimals);
  if (max === undefined && args.flag("yes")) throw usage("--yes needs --max: what it may cost");
  if (max === undefined && !canAsk(context))
    throw new CliError("NOT_CONFIRMED", "there is no terminal to ask on: --max says what it may cost");
  return { max, maxDay: args.amount("max-day", decimals), maxHost: args.amount("max-host", decimals) };
}

/**
 * Sends a request and pays for it where that is asked. What was begun before and not finished goes on; it was confirmed
 * then. Whoever answers is seen once, before anything is paid: price and recipient are shown, and somebody says yes.
 */
export async function payingFetch(session: Session, limits: Limits, url: string, init: RequestInit) {
  const { context, config, wallet } = session;
  const { output, args, signal } = context;
  let paid: Paid | undefined;
  const onProgress = ({ stage, resourceUrl, price, txSignature }: PurchaseProgress) => {
    output.progress(STAGES[stage]);
    if (txSignature !== undefined) paid = { amount: price, resource: resourceUrl, transaction: txSignature };
  };
  const send: typeof fetch = async (input, options) => {
    const response = await reach(input, options);
    const proves = new Headers(options?.headers).has("x-payment-proof");
    if (response.status === 402 && !proves) await offer(session, limits, response);
    return response;
  };
  const service = serviceOf(config).url;
  const pay = wrapFetch(send, wallet, {
    services: [service],
    phoneRegistry: args.url("registry") ?? service,
    phone: { confirmChange: ({ known, offered }) => acceptRecipient(context, "the shop's number", known, offered) },
    serviceFetch: fetch,
    maxPerRequest: limits.max ?? MAX_AMOUNT,
    ...(limits.maxDay === undefined ? {} : { maxPerDay: limits.maxDay }),
    ...(limits.maxHost === undefined ? {} : { maxPerHost: limits.maxHost }),
    confirmRecipient: ({ host, known, offered }) =>
      acceptRecipient(context, host, { wallet: known }, { wallet: offered }),
    merge: args.flag("merge"),
    onProgress,
  });
  const key = args.text("key");
  const response = await pay(url, { ...init, signal, ...(key === undefined ? {} : { sotto: { key } }) });
  return { response, paid };
}

/** @throws CliError HOST_UNREACHABLE */
async function reach(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  try {
    return await fetch(input, init);
  } catch (cause) {
    if (init?.signal?.aborted) throw cause;
    const { host } = new URL(input instanceof Request ? input.url : String(input));
    throw new CliError("HOST_UNREACHABLE", `nothing answers at ${host}`, {}, { cause });
  }
}

/** Shows what is asked for. What is wrong with it is found by the paying fetch, which reads it again. */
async function offer(session: Session, limits: Limits, response: Response): Promise<void> {
  const { context, config } = session;
  if (context.args.flag("yes") || !canAsk(context)) return;
  const instructions = await read(response.clone());
  if (instructions === undefined) return;
  const { payment, metadata } = instructions;
  const price = BigInt(payment.amountBaseUnits);
  if (limits.max !== undefined && price > limits.max) return;
  const to = payment.recipient.wallet;
  const answer = await askLine(
    context,
    `pay ${money(price, config)} to ${to} for ${printable(metadata.resource)}? [y/N] `,
    "--yes says yes beforehand",
  );
  if (!/^y(es)?$/i.test(answer)) throw new CliError("NOT_CONFIRMED", "nothing was paid");
}

async function read(response: Response): Promise<PaymentInstructions | undefined> {
  try {
    const bytes = await readBody(response, MAX_RESPONSE_BYTES, AbortSignal.timeout(MOST_MS));
    return parseInstructions(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

/** Whether somebody says that another wallet, or another key of it, is right. */
export async function acceptRecipient(
  context: Context,
  who: string,
  known: { wallet: string },
  offered: { wallet: string },
): Promise<boolean> {
  if (context.args.flag("new-recipient")) return true;
  if (!canAsk(context)) return false;
  const what = known.wallet === offered.wallet ? "another key of the same wallet" : offered.wallet;
  const question = `${printable(who)} was paid under ${known.wallet} and now names ${what}. Is that right? [y/N] `;
  return /^y(es)?$/i.test(await askLine(context, question, "--new-recipient accepts it"));
}

/** What was paid, for programs; null where nothing was. */
export function paidFields({ wallet }: Session, paid: Paid | undefined, config: Config) {
  if (paid === undefined) return null;
  const { amount, resource, transaction } = paid;
  const id = wallet.history().find(({ transactionHash }) => transactionHash === transaction)?.id ?? null;
  return { id, ...amountFields(amount, config), resource, transaction };
}
