import type { SottoService } from "../service/service.ts";
import type { Wallet } from "../wallet/wallet.ts";
import type { PurchaseBook } from "./book.ts";
import type { OnProgress, PurchaseProgress, PurchaseStage } from "./progress.ts";
import type { PurchaseRecord } from "./record.ts";

export interface PurchaseOptions {
  signal?: AbortSignal;
  onProgress?: OnProgress;
  /** Milliseconds to wait for a note that is being appended or held by another payment; 120,000 if left out. */
  fundsTimeoutMs?: number;
  /** Milliseconds the wallet's node may lag behind the service's; 30,000 if left out. */
  chainTimeoutMs?: number;
  /** Joins notes through the service where no single one is enough. Left out: MERGE_REQUIRED. */
  merge?: boolean;
}

/** What each step of a purchase works with. */
export interface Context {
  wallet: Wallet;
  service: SottoService;
  book: PurchaseBook;
  options: PurchaseOptions;
  record: PurchaseRecord;
}

/** `signal` as the option of what takes one: an option that is undefined is not one that is left out. */
export const withSignal = ({ signal }: PurchaseOptions): { signal?: AbortSignal } => (signal ? { signal } : {});

export function tell(context: Context, stage: PurchaseStage, more: Partial<PurchaseProgress> = {}): void {
  const { record, options } = context;
  options.onProgress?.({ stage, resourceUrl: record.resourceUrl, price: BigInt(record.price), ...more });
}

/** Writes what is new of the purchase. Whatever follows may rely on it. */
export async function store(context: Context, changes: Partial<PurchaseRecord>): Promise<void> {
  context.record = await context.book.update({ ...context.record, ...changes });
}
