import type { SettledEvent } from "@sotto/chain";
import { CIRCUITS, PAYMENT_SIGNAL, signalsDigest } from "@sotto/protocol";

/**
 * Returns the public signals of a settled payment, or undefined if unknown. It is called for all payments of the
 * period, so that the source does not learn which of them matter.
 */
export type SignalSource = (event: SettledEvent) => Promise<readonly bigint[] | undefined>;

const WORD = 64;
const SIGNALS = CIRCUITS.payment.publicSignalCount;

/**
 * Finds the signals in a transaction's calldata, because the event omits three of them. They are a fixed array, so
 * any call contains them contiguously, unless a wrapper contract packs them differently.
 * @param calldata returns a transaction's calldata by its hash, hex with 0x; undefined if the node does not have it
 */
export function calldataSignals(calldata: (transactionHash: string) => Promise<string | undefined>): SignalSource {
  const known = new Map<string, Promise<string | undefined>>();
  return async (event) => {
    const { transactionHash: hash } = event;
    // One transaction may settle many payments, so it is fetched once.
    if (!known.has(hash)) known.set(hash, calldata(hash));
    const data = await known.get(hash);
    return data === undefined ? undefined : findSignals(data.toLowerCase(), event);
  };
}

function findSignals(data: string, event: SettledEvent): bigint[] | undefined {
  const nullifier = event.nullifier.toString(16).padStart(WORD, "0");
  for (let at = data.indexOf(nullifier); at >= 0; at = data.indexOf(nullifier, at + 1)) {
    const start = at - PAYMENT_SIGNAL.nullifier * WORD;
    const text = start < 0 ? "" : data.slice(start, start + SIGNALS * WORD);
    if (text.length !== SIGNALS * WORD) continue;
    const signals = Array.from({ length: SIGNALS }, (_, i) => BigInt(`0x${text.slice(i * WORD, (i + 1) * WORD)}`));
    if (digestOf(signals) === event.digest) return signals;
  }
  return undefined;
}

/** Undefined if the words are not field elements and therefore not signals. */
function digestOf(signals: bigint[]): string | undefined {
  try {
    return signalsDigest(signals);
  } catch {
    return undefined;
  }
}
