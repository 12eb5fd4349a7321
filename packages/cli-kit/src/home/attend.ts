import type { PayingAttachment } from "@sotto/client";
import type { Wallet } from "@sotto/wallet";

/** What a set of commands adds to a wallet while a program spends from it. */
export interface Attended {
  /** What the program shows beside its payments. */
  readonly attachments: readonly PayingAttachment[];
  /** Called before the wallet is closed. */
  end(): Promise<void>;
}

/** Called when a program has opened a wallet to spend from it, and before it does. It must not take long. */
export type Attend = (wallet: Wallet) => Promise<Attended>;

/**
 * Attends to a wallet that is open to spend from it. Every program that opens the wallet of a folder does this before it spends: the
 * notes that one program keeps apart must not be mixed by another one.
 * @throws the errors of the sets
 */
export async function attendTo(wallet: Wallet, attends: readonly Attend[]): Promise<Attended> {
  const attended: Attended[] = [];
  const end = async () => {
    const ends = await Promise.allSettled(attended.map((each) => each.end()));
    for (const ended of ends) if (ended.status === "rejected") throw ended.reason;
  };
  try {
    for (const attend of attends) attended.push(await attend(wallet));
  } catch (error) {
    await end().catch(() => undefined);
    throw error;
  }
  return { attachments: attended.flatMap(({ attachments }) => attachments), end };
}
