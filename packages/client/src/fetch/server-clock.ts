// A 402 says the server's time. A server whose clock differs too much from the payer's takes the money and refuses the proof.
import { MAX_CLOCK_SKEW_MS } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { FetchError } from "./errors.ts";

/**
 * Maximum time by which a server's clock may be ahead, ms. The server takes each proof for older by that much, and accepts it
 * for five minutes, so three are left to prove and settle.
 */
const MAX_SERVER_LEAD_MS = 120_000;

/** When a request that got a 402 was sent and answered by this machine's clock, and the server's time; ms. */
export interface Exchange {
  readonly sent: number;
  readonly answered: number;
  readonly server: number;
}

/**
 * Compares the server's clock with this machine's, before anything is paid. If they differ, the chain decides whose is wrong.
 * @throws FetchError SERVER_CLOCK_WRONG; WalletError CLOCK_WRONG; ChainError if no node answers; the signal's reason
 */
export async function assertServerClock(
  wallet: Wallet,
  { exchange, url }: { readonly exchange: Exchange; readonly url: URL },
  signal: AbortSignal | undefined,
): Promise<void> {
  const { sent, answered, server } = exchange;
  const { host } = url;
  // The server wrote its time between `sent` and `answered`, so a slow connection is no difference.
  const [ahead, behind] = [server - answered, sent - server];
  if (ahead <= MAX_SERVER_LEAD_MS && behind <= MAX_CLOCK_SKEW_MS) return;
  await wallet.assertClock(signal);
  const direction = ahead > 0 ? "ahead" : "behind";
  const seconds = Math.round(Math.max(ahead, behind) / 1000);
  const age = ahead > 0 ? "too old" : "dated in the future";
  throw new FetchError(
    "SERVER_CLOCK_WRONG",
    `the clock of ${host} is ${seconds} s ${ahead > 0 ? "ahead of" : "behind"} this machine's, which does not contradict the chain's ` +
      `time; the server would refuse the proof as ${age}, so nothing was paid; ask its operator to set the clock`,
    { host, seconds, direction },
  );
}
