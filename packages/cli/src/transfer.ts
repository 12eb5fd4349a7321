import { dismissPurchase, PurchaseError, purchase, type StoreValue } from "@sotto/client";
import { hexlify, randomBytes } from "ethers";
import { STAGES } from "./paying.ts";
import { type Session, serviceOf } from "./session.ts";

/** A payment to an address that no 402 asked for. */
export interface Transfer {
  shieldedAddress: string;
  /** Base units. */
  amount: bigint;
  /** What the payment is bound to. */
  resourceUrl: string;
}

/** What is journalled of a transfer before it is begun. */
export interface TransferRecord {
  key: string;
  wallet: string;
  shieldedAddress: string;
  amount: string;
  resourceUrl: string;
  /** Where it was settled, null before. */
  transaction: string | null;
}

export const asValue = (record: TransferRecord): StoreValue => record as unknown as StoreValue;

/** A new record. No account is named: the wallet address is nobody's. */
export function newTransfer({ shieldedAddress, amount, resourceUrl }: Transfer, wallet?: string): TransferRecord {
  return {
    key: `cli ${hexlify(randomBytes(16)).slice(2)}`,
    wallet: wallet ?? hexlify(randomBytes(20)),
    shieldedAddress,
    amount: String(amount),
    resourceUrl,
    transaction: null,
  };
}

/** Errors of a purchase that is paid: the proof that it would show is too old, or never got its token. */
const PAID = new Set<string>(["PURCHASE_FINISHED", "PAID_BUT_STALE", "PAID_BUT_REFUSED"]);

/** What became of a transfer. */
export interface Transferred {
  transaction: string;
  digest: string;
}

/** Pays a transfer, or goes on with it: under its key it is paid once, and asked again it says in which transaction. */
export async function payTransfer(session: Session, record: TransferRecord): Promise<Transferred> {
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
    // Ended before it was stored as over: it is paid, and there is nobody here to show a proof to, late or not.
    if (error.code !== "PURCHASE_FINISHED") await dismissPurchase(wallet, String(error.details["id"]));
    return { transaction: String(error.details["txSignature"]), digest: String(error.details["digest"]) };
  }
}
