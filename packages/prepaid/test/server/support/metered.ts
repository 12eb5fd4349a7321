// A merchant with a metered route, and payers with tokens of version 2 that claim change and swap.
import { randomBytes } from "node:crypto";
import type { Decision, Outcome } from "@sotto/resource-server";
import {
  type ChangeAnswer,
  changeClaimOf,
  changeOf,
  encodePrepaidHeader,
  encodeReceiptKeyFile,
  encodeSignedTerms,
  formatChangeRequest,
  formatSwapRequest,
  type MeteredRule,
  type MeteredTerms,
  meteredRuleHash,
  PREPAID_CHANGE_PATH,
  PREPAID_SWAP_PATH,
  type PrepaidPack,
  type PrepaidToken,
  parseChangeAnswer,
  parseSwapAnswer,
  prepaidKey,
  preparePrepaidPack,
  receiptKeyOf,
  type SignedMeteredTerms,
  signChangeClaim,
  tokenSecretOf,
} from "../../../src/index.ts";
import { metered } from "../../../src/server/metered/price.ts";
import { Signer } from "../../../src/server/signer.ts";
import {
  DEPLOYMENT,
  type Merchant,
  NOW,
  ORIGIN,
  optionsOf,
  type PrepaidServer,
  type ServerOptions,
  WALLET,
} from "./merchant.ts";

export const CAP = 10_000n;
/** Every value from the grain to the cap. */
export const METERED_VALUES = [1_000n, 2_000n, 5_000n, 10_000n] as const;
export const RULE: MeteredRule = {
  base: 500n,
  units: [
    { name: "input", price: 1n, per: 1 },
    { name: "output", price: 600n, per: 1_000 },
  ],
  cap: CAP,
  grain: 1_000n,
};
export const RULE_HASH = meteredRuleHash(RULE);
export const SECRETS = [1, 2, 3].map((fill) => new Uint8Array(32).fill(fill));
const EPOCHS = ["2026-11", "2026-12", "2027-01"];
export const TERMS: MeteredTerms = {
  wallet: WALLET,
  ...DEPLOYMENT,
  origin: ORIGIN,
  firstEpoch: EPOCHS[0]!,
  receiptKeys: SECRETS.map(receiptKeyOf),
  routes: [{ method: "POST", path: "/chat", rule: RULE }],
};
export const PRICE = metered({
  cap: CAP,
  grain: RULE.grain,
  base: "0.0005",
  units: { output: { price: 600n, per: 1_000 }, input: { price: 1n } },
});

/** What the node of a test accepts as the signature of every wallet. */
export const SIGNED_TERMS: SignedMeteredTerms = { terms: TERMS, signature: `0x${"11".repeat(65)}` };

/**
 * The options of a paywall with the metered route POST /chat.
 * @param guard path of its file
 * @param signed all terms, of the schedule's wallet
 */
export function meteredOptions(
  merchant: Merchant,
  store: string,
  guard: string,
  signed: readonly SignedMeteredTerms[] = [SIGNED_TERMS],
): ServerOptions {
  const options = optionsOf(merchant);
  return {
    ...options,
    recipient: { ...options.recipient, wallet: merchant.schedule.wallet } as ServerOptions["recipient"],
    routes: [...options.routes!, { path: "/chat", method: "POST", price: PRICE }],
    prepaid: { ...options.prepaid, store, guard },
    metered: {
      terms: signed.map(encodeSignedTerms),
      receiptKeys: encodeReceiptKeyFile({
        origin: ORIGIN,
        keys: EPOCHS.map((epoch, i) => ({ epoch, secret: SECRETS[i]! })),
      }),
    },
  };
}

/** A token with the secret that claims its change. */
export interface Owned {
  readonly token: PrepaidToken;
  readonly secret: Uint8Array;
}

/** Prepares a token of a value and month. */
function prepare({ prepaid }: PrepaidServer, value: bigint, epoch: string) {
  const key = prepaid.keyring.at(value, epoch)!;
  const secret = new Uint8Array(randomBytes(32));
  const modulus = BigInt(`0x${key.modulus.toString("hex")}`);
  return { key, secret, pack: preparePrepaidPack(secret, prepaidKey(modulus), ORIGIN, 1, 0, 2) };
}

/** Buys tokens of a value without paying: signs them as a purchase does. */
export async function buy(
  server: PrepaidServer,
  count: number,
  { value = CAP as bigint, epoch = "2026-12" } = {},
): Promise<Owned[]> {
  const signer = new Signer(1);
  try {
    const owned: Owned[] = [];
    for (let i = 0; i < count; i++) {
      const { key, secret, pack } = prepare(server, value, epoch);
      const [token] = pack.finish(await signer.sign([key], pack.request));
      owned.push({ token: token!, secret: tokenSecretOf(secret, 0) });
    }
    return owned;
  } finally {
    await signer.close();
  }
}

/** Blinded messages, and what turns their signatures into tokens. */
export interface Blinded {
  readonly batch: Uint8Array;
  finish(signatures: Uint8Array): Owned[];
}

/** Blinds tokens of these values. */
export function blind(server: PrepaidServer, values: readonly bigint[], epoch = "2026-12"): Blinded {
  const prepared = values.map((value) => prepare(server, value, epoch));
  const part = (pack: PrepaidPack, signatures: Uint8Array, i: number) =>
    pack.finish(signatures.subarray(256 * i, 256 * (i + 1)))[0]!;
  return {
    batch: new Uint8Array(Buffer.concat(prepared.map(({ pack }) => pack.request))),
    finish: (signatures) =>
      prepared.map(({ pack, secret }, i) => ({ token: part(pack, signatures, i), secret: tokenSecretOf(secret, 0) })),
  };
}

/** Blinds the change of a charge. */
export const blindChange = (server: PrepaidServer, charge: bigint, epoch?: string): Blinded =>
  blind(server, changeOf(RULE, charge), epoch);

/** Shows a token for the metered route. */
export const showMetered = (
  { paywall }: PrepaidServer,
  { token }: Owned,
  { rule = [RULE_HASH] as readonly string[], target = "/chat" } = {},
): Promise<Decision> =>
  paywall.decide({
    method: "POST",
    target,
    header: (name) =>
      name === "x-payment-token" ? [encodePrepaidHeader(token)] : name === "x-payment-rule" ? rule : [],
  });

export type PaidDecision = Extract<Decision, { kind: "paid" }>;

/** The paid decision on a token, with its meter. */
export async function startMetered(server: PrepaidServer, owned: Owned) {
  const decision = await showMetered(server, owned);
  if (decision.kind !== "paid" || decision.payment.kind !== "metered")
    throw new Error(`not paid with metered credit: ${JSON.stringify(decision)}`);
  return { decision, payment: decision.payment, meter: decision.payment.meter };
}

/** Shows a token, counts units, and ends the response. */
export async function spendMetered(
  server: PrepaidServer,
  owned: Owned,
  units: Readonly<Record<string, number>>,
  outcome: Outcome = 200,
): Promise<void> {
  const { decision, meter } = await startMetered(server, owned);
  meter.add(units);
  await end(decision, outcome);
}

export async function end(decision: PaidDecision, outcome: Outcome = 200): Promise<void> {
  await decision.finish(outcome);
  await decision.ended?.(typeof outcome === "number" ? "complete" : "cut");
}

/** Status and JSON of a request to one of the paths of prepaid tokens. */
export interface Answer {
  readonly status: number;
  /** The code of a refusal. */
  readonly code: string | undefined;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

export async function post({ paywall }: PrepaidServer, target: string, body: string | Uint8Array): Promise<Answer> {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const decision = await paywall.decide({
    method: "POST",
    target,
    header: () => [],
    body: async (max) => {
      if (bytes.length > max) throw new Error("too long");
      return bytes;
    },
  });
  if (decision.kind === "answered")
    return { status: 200, code: undefined, retryAfter: undefined, text: new TextDecoder().decode(decision.body) };
  if (decision.kind !== "refused") throw new Error(decision.kind);
  const { code } = decision.body as { code?: string };
  return { status: decision.status, code, retryAfter: decision.headers["retry-after"], text: "" };
}

/** The body of a claim. */
export const claimBody = (
  { token, secret }: Owned,
  batch?: Uint8Array,
  { origin = ORIGIN, charge }: { readonly origin?: string; readonly charge?: bigint | undefined } = {},
): string => {
  const name = { keyId: token.keyId, nonce: token.nonce };
  const proof = signChangeClaim(changeClaimOf(origin, { token: name, batch }), secret);
  return formatChangeRequest({ token: name, proof, batch, charge });
};

export const claim = (server: PrepaidServer, owned: Owned, batch?: Uint8Array, charge?: bigint): Promise<Answer> =>
  post(server, PREPAID_CHANGE_PATH, claimBody(owned, batch, { charge }));

/** The answer to a claim that must succeed. */
export async function claimed(
  server: PrepaidServer,
  owned: Owned,
  batch?: Uint8Array,
  charge?: bigint,
): Promise<ChangeAnswer> {
  const answer = await claim(server, owned, batch, charge);
  if (answer.status !== 200) throw new Error(`the claim was refused: ${answer.status} ${answer.code}`);
  return parseChangeAnswer(answer.text);
}

export const swapBody = (spent: readonly Owned[], { batch }: Blinded, epoch = "2026-12"): string =>
  formatSwapRequest({ epoch, tokens: spent.map(({ token }) => encodePrepaidHeader(token)), batch });

export const swap = (server: PrepaidServer, spent: readonly Owned[], blinded: Blinded, epoch?: string) =>
  post(server, PREPAID_SWAP_PATH, swapBody(spent, blinded, epoch));

/** The signatures of a swap that must succeed. */
export const swapSignatures = ({ status, code, text }: Answer): Uint8Array => {
  if (status !== 200) throw new Error(`the swap was refused: ${status} ${code}`);
  return parseSwapAnswer(text);
};

export { NOW };
