import type { SottoService, Wallet } from "@sotto/wallet";
import type { PayingAttachment } from "./attachment.ts";
import type { PurchaseBook } from "./book.ts";
import type { OnProgress, PurchaseProgress, PurchaseStage } from "./progress.ts";
import type { PurchaseRecord } from "./record.ts";

/** Options of one purchase. */
export interface PurchaseOptions {
  /** Aborts the purchase. The next equal one resumes it. */
  signal?: AbortSignal | undefined;
  /** Called at each stage. */
  onProgress?: OnProgress | undefined;
  /** Milliseconds to wait for a note that is not yet appended or is held by another payment. Default: 120,000. */
  fundsTimeoutMs?: number | undefined;
  /** Milliseconds that the wallet's node may lag behind the service's node. Default: 30,000. */
  chainTimeoutMs?: number | undefined;
  /**
   * Merges notes through the service if no single note is large enough. Default: the payment fails with MERGE_REQUIRED.
   */
  merge?: boolean | undefined;
}

/** Options that only the client itself sets. */
export interface ContextOptions extends PurchaseOptions {
  /** Whether a proof that is older than five minutes is still of use: what another method bought may be recovered with it. */
  anyAge?: boolean | undefined;
  /** What payments may show beside their proofs. */
  attachments?: readonly PayingAttachment[] | undefined;
}

/** The state that every step of a purchase works with. */
export interface Context {
  wallet: Wallet;
  service: SottoService;
  book: PurchaseBook;
  options: ContextOptions;
  record: PurchaseRecord;
}

export function tell(context: Context, stage: PurchaseStage, more: Partial<PurchaseProgress> = {}): void {
  const { record, options } = context;
  options.onProgress?.({ stage, resourceUrl: record.resourceUrl, price: BigInt(record.price), ...more });
}

/** Updates the purchase's record in the store before the next step relies on it. */
export async function store(context: Context, changes: Partial<PurchaseRecord>): Promise<void> {
  context.record = await context.book.update({ ...context.record, ...changes });
}
