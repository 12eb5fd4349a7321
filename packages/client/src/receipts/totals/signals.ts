import type { SettledEvent } from "@sotto/chain";
import { signalsDigest } from "@sotto/protocol";

/**
 * Gives the ten public signals of a settled payment, or undefined where it does not know them. It is asked about all
 * payments of the period, so that whom it asks in turn learns nothing of which matter.
 */
export type SignalSource = (event: SettledEvent) => Promise<readonly bigint[] | undefined>;

const WORD = 64;
const SIGNALS = 10;
const NULLIFIER = 6;

/**
 * The signals from a transaction's calldata: the event leaves out three of the ten. They are a fixed array, so they stand
 * side by side in whatever call carried them; where a wrapper packed them otherwise, they are not found.
 * @param calldata of a transaction by its hash, hex with 0x; undefined where the node does not know it
 */
export function calldataSignals(calldata: (transactionHash: string) => Promise<string | undefined>): SignalSource {
  const known = new Map<string, Promise<string | undefined>>();
  return async (event) => {
    const { transactionHash: hash } = event;
    // A transaction settles many payments: it is asked for once.
    if (!known.has(hash)) known.set(hash, calldata(hash));
    const data = await known.get(hash);
    return data === undefined ? undefined : findSignals(data.toLowerCase(), event);
  };
}

function findSignals(data: string, event: SettledEvent): bigint[] | undefined {
  const nullifier = event.nullifier.toString(16).padStart(WORD, "0");
  for (let at = data.indexOf(nullifier); at >= 0; at = data.indexOf(nullifier, at + 1)) {
    const start = at - NULLIFIER * WORD;
    const text = start < 0 ? "" : data.slice(start, start + SIGNALS * WORD);
    if (text.length !== SIGNALS * WORD) continue;
    const signals = Array.from({ length: SIGNALS }, (_, i) => BigInt(`0x${text.slice(i * WORD, (i + 1) * WORD)}`));
    if (digestOf(signals) === event.digest) return signals;
  }
  return undefined;
}

/** Words that only look like signals may be no field elements. */
function digestOf(signals: bigint[]): string | undefined {
  try {
    return signalsDigest(signals);
  } catch {
    return undefined;
  }
}
