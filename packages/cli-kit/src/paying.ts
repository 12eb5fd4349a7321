import { type Offer, type PurchaseProgress, type PurchaseStage, type WrapOptions, wrapFetch } from "@sotto/client";
import { MAX_AMOUNT, requestedUrl } from "@sotto/protocol";
import { agrees, canAsk, YES } from "./ask.ts";
import type { Context } from "./command.ts";
import { amountFields, money } from "./format.ts";
import { CliError, usage } from "./frame/errors.ts";
import { printable } from "./frame/output.ts";
import type { Config } from "./home/config.ts";
import { type Session, serviceOf } from "./session.ts";

/** Options of the commands that pay for a request. */
export const PAYING = {
  max: { value: "AMOUNT", help: "highest price; required without a terminal or with --yes" },
  "max-day": { value: "AMOUNT", help: "maximum that this wallet may spend in a day (UTC)" },
  "max-host": { value: "AMOUNT", help: "maximum that this wallet may spend at this host in a day" },
  key: { value: "TEXT", help: "names the purchase: one key is paid at most once, forever" },
  "new-recipient": { help: "accept that the host now names a different wallet" },
  merge: { help: "merge notes first if no single note is large enough" },
  registry: { value: "URL", help: "phone registry to check a 402's phone number with; default: the service" },
  ...YES,
} as const;

/** The payment made for a response. */
export interface Paid {
  amount: bigint;
  resource: string;
  /** Null if a token paid. */
  transaction: string | null;
  /** The method of the token; undefined for a private payment. */
  method?: string | undefined;
}

export const STAGES: Readonly<Record<PurchaseStage, string>> = {
  challenge: "the server asks for a payment",
  recipient: "checking the recipient",
  split: "splitting a note to pay in parallel",
  funds: "waiting for a note that can be spent",
  proving: "proving",
  verifying: "the service is verifying the proof",
  settling: "settling",
  confirming: "confirming the payment on the chain",
  paid: "paid",
  presenting: "repeating the request with the proof",
  retrying: "the server failed: retrying with the same proof",
  delivered: "delivered",
  token: "sending the request with a token",
};

/** The limits that a command states, base units. Undefined: only the wallet's own. */
export interface Limits {
  /** For one request. */
  max: bigint | undefined;
  /** For this wallet in a day (UTC). */
  maxDay: bigint | undefined;
  /** For this host in a day (UTC). */
  maxHost: bigint | undefined;
}

/**
 * The limits of a command that has the options `PAYING`.
 * @throws CliError USAGE with --yes but without --max, NOT_CONFIRMED if there is neither --max nor a terminal
 */
export function parseLimits(context: Context, { decimals }: Config): Limits {
  const { args } = context;
  const max = args.amount("max", decimals);
  if (max === undefined && args.flag("yes")) throw usage("--yes needs --max AMOUNT, the highest price");
  if (max === undefined && !canAsk(context))
    throw new CliError("NOT_CONFIRMED", "cannot ask without a terminal: set the highest price with --max AMOUNT");
  return { max, maxDay: args.amount("max-day", decimals), maxHost: args.amount("max-host", decimals) };
}

/**
 * Sends a request and pays if the server answers 402. For a new purchase, shows the price and recipient and asks the
 * user. An interrupted purchase resumes without asking, because the user has already confirmed it.
 */
export async function payingFetch(session: Session, limits: Limits, url: string, init: RequestInit) {
  const { output, args, signal } = session.context;
  let paid: Paid | undefined;
  const onProgress = ({ stage, resourceUrl, price, txSignature, method }: PurchaseProgress) => {
    output.progress(STAGES[stage]);
    if (txSignature !== undefined) paid = { amount: price, resource: resourceUrl, transaction: txSignature };
    if (stage === "token") paid = { amount: price, resource: resourceUrl, transaction: null, method };
  };
  const pay = wrapFetch(reach, session.wallet, { ...payOptions(session, limits), onProgress });
  const key = args.text("key");
  const response = await pay(url, { ...init, signal, sotto: { key } });
  return { response, paid };
}

/** The options of a payment: the wallet's services and limits, and the questions to the user. */
export function payOptions(session: Session, limits: Limits): WrapOptions {
  const { context, config } = session;
  const { args } = context;
  const service = serviceOf(config).url;
  const { limits: own } = config;
  return {
    services: [service],
    phoneRegistry: args.url("registry") ?? service,
    phone: {
      confirmChange: ({ known, offered }) => acceptRecipient(context, "the server's phone number", known, offered),
    },
    serviceFetch: fetch,
    maxPerRequest: smaller(limits.max, own.perRequest) ?? MAX_AMOUNT,
    maxPerDay: smaller(limits.maxDay, own.perDay),
    maxPerHour: own.perHour,
    maxPerHost: smaller(limits.maxHost, own.perHost),
    maxByHost: Object.fromEntries(
      Object.entries(own.hosts ?? {}).map(([host, limit]) => [host, smaller(limits.maxHost, limit) ?? limit]),
    ),
    confirmPayment: (offer) => confirmOffer(session, offer),
    confirmRecipient: ({ host, known, offered }) =>
      acceptRecipient(context, host, { wallet: known }, { wallet: offered }),
    merge: args.flag("merge"),
    methods: context.program.methods,
    attachments: session.attachments,
  };
}

/** The smaller of two limits; undefined means no limit. */
const smaller = (a: bigint | undefined, b: bigint | undefined): bigint | undefined =>
  a === undefined || (b !== undefined && b < a) ? b : a;

/** @throws CliError HOST_UNREACHABLE */
async function reach(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  try {
    return await fetch(input, init);
  } catch (cause) {
    if (init?.signal?.aborted) throw cause;
    const { host } = new URL(requestedUrl(input));
    throw new CliError("HOST_UNREACHABLE", `no answer from ${host}; check the address and the network`, {}, { cause });
  }
}

/** Shows the price and asks, unless the user confirmed in advance. @throws CliError NOT_CONFIRMED */
async function confirmOffer(
  { context, config }: Session,
  { price, recipient, resourceUrl, resumed, tokens }: Offer,
): Promise<true> {
  if (resumed || context.args.flag("yes") || !canAsk(context)) return true;
  // A token was paid for before.
  if (tokens?.count === 1) return true;
  const what = tokens ? `${tokens.count} tokens of ${money(tokens.value, config)}` : printable(resourceUrl);
  const question = `pay ${money(price, config)} to ${recipient} for ${what}?`;
  if (!(await agrees(context, question, "confirm in advance with --yes")))
    throw new CliError("NOT_CONFIRMED", "nothing was paid");
  return true;
}

/** Asks the user to confirm a recipient's new wallet or shielded address. */
export async function acceptRecipient(
  context: Context,
  who: string,
  known: { wallet: string },
  offered: { wallet: string },
): Promise<boolean> {
  if (context.args.flag("new-recipient")) return true;
  if (!canAsk(context)) return false;
  const what = known.wallet === offered.wallet ? "another shielded address of the same wallet" : offered.wallet;
  const question = `${printable(who)} was paid at ${known.wallet} before and now names ${what}. Accept it?`;
  return agrees(context, question, "accept it with --new-recipient");
}

/** The payment's fields for --json; null if nothing was paid. */
export function paidFields({ wallet }: Session, paid: Paid | undefined, config: Config) {
  if (paid === undefined) return null;
  const { amount, resource, transaction } = paid;
  const id = transaction && wallet.history().find(({ transactionHash }) => transactionHash === transaction)?.id;
  return { id: id ?? null, ...amountFields(amount, config), resource, transaction };
}
