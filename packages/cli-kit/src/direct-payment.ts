import { dismissPurchase, PurchaseError, purchase } from "@sotto/client";
import type { StoreValue } from "@sotto/wallet";
import { hexlify, randomBytes } from "ethers";
import { STAGES } from "./paying.ts";
import { type Session, serviceOf } from "./session.ts";

/** The terms of a direct payment, which has no HTTP request and no 402. */
export interface DirectPaymentTerms {
  shieldedAddress: string;
  /** In base units. */
  amount: bigint;
  /** The resource that the payment is bound to. */
  resourceUrl: string;
}

/** The journal's record of a direct payment, written before it is paid. */
export interface DirectPaymentRecord {
  /** Name of the payment: a payment is made once for each key. */
  key: string;
  /** Address of the wallet that is paid. */
  wallet: string;
  /** 64 bytes as hex with 0x. */
  shieldedAddress: string;
  /** Base units, decimal. */
  amount: string;
  /** The resource that the proof binds. */
  resourceUrl: string;
  /** Hash of the transaction that settled it; null until then. */
  transaction: string | null;
}

export const asValue = (record: DirectPaymentRecord): StoreValue => record as unknown as StoreValue;

/** A new record. Without `wallet`, the wallet address is random and belongs to nobody. */
export function createDirectPayment(
  { shieldedAddress, amount, resourceUrl }: DirectPaymentTerms,
  wallet?: string,
): DirectPaymentRecord {
  return {
    key: `cli ${hexlify(randomBytes(16)).slice(2)}`,
    wallet: wallet ?? hexlify(randomBytes(20)),
    shieldedAddress,
    amount: String(amount),
    resourceUrl,
    transaction: null,
  };
}

/** Errors that mean that the purchase is paid, even if its proof is too old or never got its token. */
const PAID = new Set<string>(["PURCHASE_FINISHED", "PAID_BUT_STALE", "PAID_BUT_REFUSED"]);

export interface PaidDirectly {
  transaction: string;
  digest: string;
}

/**
 * Makes or resumes a direct payment. Its key ensures that it is paid once; a repeated call returns the same
 * transaction.
 */
export async function payDirectly(session: Session, record: DirectPaymentRecord): Promise<PaidDirectly> {
  const { context, config, wallet } = session;
  const { output, signal, args } = context;
  const { key, wallet: address, shieldedAddress, amount, resourceUrl } = record;
  const request = { recipient: { wallet: address, shieldedAddress }, price: BigInt(amount), resourceUrl, key };
  try {
    const { txSignature, digest, delivered } = await purchase(wallet, serviceOf(config), request, {
      signal,
      merge: args.flag("merge"),
      onProgress: ({ stage }) => output.progress(STAGES[stage]),
    });
    await delivered();
    return { transaction: txSignature, digest };
  } catch (error) {
    if (!(error instanceof PurchaseError) || !PAID.has(error.code)) throw error;
    // An earlier call was interrupted after the payment, before the journal recorded it. A direct payment needs no
    // proof afterwards.
    if (error.code !== "PURCHASE_FINISHED") await dismissPurchase(wallet, String(error.details["id"]));
    return { transaction: String(error.details["txSignature"]), digest: String(error.details["digest"]) };
  }
}
