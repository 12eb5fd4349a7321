// Payments to phone numbers.
import { lookUpPhone, payPhone, phoneNumberOf, resolvePhone } from "@sotto/client";
import { bytesToHex } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { WebError } from "../errors.ts";
import type { FoundNumber, OnProgress, Paid } from "./api.ts";
import type { Context } from "./context.ts";
import { stageText } from "./stages.ts";

const PREFIX = "urn:sotto:phone:";
/** A payment to a number, stored before it begins: after a reload, the same call resumes it. */
interface Intent {
  readonly phone: string;
  /** Base units, decimal. */
  readonly amount: string;
}
const intentKey = (key: string): string => `web/phone/${key}`;

async function readIntent(wallet: Wallet, key: string): Promise<Intent | undefined> {
  return (await wallet.store.get(intentKey(key)))?.value as Intent | undefined;
}

/**
 * The key of the payment with this resource; undefined if it is not a payment to a phone number, or was started
 * elsewhere.
 */
export async function phoneKeyOf(wallet: Wallet, resource: string): Promise<string | undefined> {
  const key = resource.startsWith(PREFIX) ? resource.slice(PREFIX.length) : undefined;
  return key !== undefined && (await readIntent(wallet, key)) !== undefined ? key : undefined;
}

export async function findNumber({ wallet, registry }: Context, written: string): Promise<FoundNumber> {
  const { wallet: address, standing } = await lookUpPhone(wallet, registry, written);
  const key = bytesToHex(crypto.getRandomValues(new Uint8Array(16))).slice(2);
  return { key, phone: phoneNumberOf(written), wallet: address, standing };
}

/** Pays once per looked-up number: after a failure or "Stop waiting", another call resumes the payment. */
export async function payNumber(
  context: Context,
  found: FoundNumber,
  amount: bigint,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<Paid> {
  // Pins the wallet that the user saw, so that the payment cannot go to another one.
  const { wallet: address } = await resolvePhone(context.wallet, context.registry, found.phone, {
    acceptChange: { wallet: found.wallet },
    signal,
  });
  if (address !== found.wallet)
    throw new WebError("TERMS_CHANGED", `the number leads to ${address} now, not to ${found.wallet}; look it up again`);
  const { key, phone } = found;
  const intent: Intent = { phone, amount: String(amount) };
  const begun = await readIntent(context.wallet, key);
  if (begun === undefined) await context.wallet.store.put(intentKey(key), { ...intent }, 0);
  else if (begun.phone !== phone || begun.amount !== intent.amount)
    throw new WebError("TERMS_CHANGED", "a payment of another amount was started here; look the number up again");
  return continueNumber(context, key, onProgress, signal);
}

/** Pays, or resumes, the payment with this key. */
export async function continueNumber(
  context: Context,
  key: string,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<Paid> {
  const { wallet, service, registry, limits } = context;
  const intent = await readIntent(wallet, key);
  if (intent === undefined) throw new WebError("NOT_PAYABLE", "this payment was started in another browser");
  const { phone } = intent;
  const amount = BigInt(intent.amount);
  const paid = await payPhone(
    wallet,
    service,
    {
      phone,
      amount,
      key,
      registry,
      resourceUrl: `${PREFIX}${key}`,
      limits: { perRequest: limits.maxPerRequest, perDay: limits.maxPerDay },
    },
    {
      merge: true,
      signal,
      onProgress: ({ stage, txSignature }) => onProgress({ stage: stageText(stage), transaction: txSignature }),
    },
  );
  await wallet.store.delete(intentKey(key));
  return {
    status: 200,
    type: "text/plain",
    text: `The wallet of ${phone} received the payment.`,
    truncated: false,
    transaction: paid.txSignature,
    price: amount,
  };
}
