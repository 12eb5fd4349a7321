/**
 * The fast engine makes the same proofs as snarkjs from the same files, with its own kernels (src/fast). It needs
 * WebAssembly's relaxed SIMD and a machine with fused multiply-add; otherwise the prover uses snarkjs.
 */

import { type Curve, sharedCurve } from "../curve.ts";
import { proverError } from "../errors.ts";
import type { Part, Sums } from "../fast/parts.ts";
import { addUp, assembleProof, type PartialSums, sumParts } from "../fast/prove.ts";
import { type ProvingKey, prepareKey } from "../fast/proving-key.ts";
import { hasFusedMultiplyAdd } from "../fast/support.ts";
import { parseZkey, type Zkey } from "../fast/zkey.ts";
import type { Witness } from "../witness/calculator.ts";
import type { ProvingEngine } from "./engine.ts";
import { pairingHolds } from "./pairing-check.ts";
import { hasSecondThread, prepareRemotely, type RemoteKey, startSecondThread } from "./second-thread.ts";
import { type SnarkjsOptions, snarkjsEngine } from "./snarkjs-engine.ts";

/**
 * The parts for this thread and for the second one, which take about the same time: G2 additions cost more, and H first
 * needs its scalars.
 */
const HERE = ["a", "b1", "c"] as const;
const THERE = ["b2", "h"] as const;

/** Options of the fast engine. */
export interface FastOptions {
  /** Uses no second thread. Default: false, which uses one under Node if the machine has a second core. */
  singleThread?: boolean | undefined;
}

interface PreparedKey {
  readonly zkey: Zkey;
  readonly here: ProvingKey;
  readonly there: RemoteKey | ProvingKey;
}

/** Proves with field arithmetic in WebAssembly. Each engine caches the keys that it has prepared. */
export function fastEngine({ singleThread = false }: FastOptions = {}): ProvingEngine {
  const keys = new WeakMap<Uint8Array, Promise<PreparedKey>>();
  const keyOf = (file: Uint8Array): Promise<PreparedKey> => {
    let key = keys.get(file);
    if (key === undefined) {
      key = prepare(file, singleThread || !hasSecondThread());
      keys.set(file, key);
      key.catch(() => keys.delete(file));
    }
    return key;
  };
  const sumsOf = async (file: Uint8Array, witness: Witness, parts: readonly Part[]): Promise<[Zkey, Curve, Sums]> => {
    const [{ zkey, here, there }, curve] = await Promise.all([keyOf(file), sharedCurve()]);
    const expected = zkey.variables * 32;
    if (witness.byteLength !== expected) {
      const message = `The witness has ${witness.byteLength} bytes, but the proving key needs ${expected}.`;
      throw proverError("ENGINE_FAILED", message, { found: witness.byteLength, expected });
    }
    // Start the second thread first, so that both work at the same time.
    const asked = partialSumsOf(there, witness, parts).catch((error: unknown) => {
      keys.delete(file);
      const reason = error instanceof Error ? error.message : String(error);
      throw proverError("ENGINE_FAILED", `The fast engine's second thread failed: ${reason}.`, { reason }, error);
    });
    // If this thread fails first, the other's failure must not be an unhandled rejection.
    asked.catch(() => undefined);
    const own = addUp(curve, sumParts(here, witness, parts));
    return [zkey, curve, { ...own, ...addUp(curve, await asked) }];
  };
  return {
    name: "sotto-fast",
    start() {
      if (!singleThread && hasSecondThread()) startSecondThread();
      sharedCurve().catch(() => undefined);
    },
    async warm(file) {
      await Promise.all([keyOf(file), sharedCurve()]);
    },
    async rehearse(file) {
      const { zkey } = await keyOf(file);
      await sumsOf(file, exampleWitness(zkey), [...HERE, ...THERE]);
    },
    async prove(file, witness) {
      const [zkey, curve, sums] = await sumsOf(file, witness, [...HERE, ...THERE]);
      return assembleProof(zkey, curve, sums as Required<Sums>);
    },
    async sums(file, witness, parts) {
      return (await sumsOf(file, witness, parts))[2];
    },
    verify: pairingHolds,
  };
}

/** Any field elements: each below 2^248. */
function exampleWitness({ variables }: Zkey): Witness {
  return Uint8Array.from({ length: variables * 32 }, (_, index) => (index % 32 === 31 ? 0 : (index * 167) >> 3));
}

async function prepare(file: Uint8Array, alone: boolean): Promise<PreparedKey> {
  const zkey = parseZkey(file);
  if (!alone) {
    try {
      const there = prepareRemotely(file, THERE);
      // If this thread fails first, the other's failure must not be an unhandled rejection.
      there.catch(() => undefined);
      return { zkey, here: await prepareKey(zkey, HERE), there: await there };
    } catch {
      // The runtime forbids workers, or the bundle lacks the worker's file: use only this thread.
    }
  }
  return { zkey, here: await prepareKey(zkey, HERE), there: await prepareKey(zkey, THERE) };
}

async function partialSumsOf(
  key: RemoteKey | ProvingKey,
  witness: Witness,
  parts: readonly Part[],
): Promise<PartialSums> {
  return "sum" in key ? key.sum(witness, parts) : sumParts(key, witness, parts);
}

/** The fast engine if the machine supports it, else snarkjs. */
export function defaultEngine(options: FastOptions & SnarkjsOptions = {}): ProvingEngine {
  return hasFusedMultiplyAdd() ? fastEngine(options) : snarkjsEngine(options);
}
