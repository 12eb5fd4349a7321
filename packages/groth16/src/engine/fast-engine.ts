/**
 * The fast engine makes the same proofs as snarkjs from the same files, with its own kernels (src/fast). It needs
 * WebAssembly's relaxed SIMD and a machine with fused multiply-add; otherwise the prover uses snarkjs.
 */

import { type Curve, type Group, sharedCurve } from "../curve.ts";
import { groth16Error } from "../errors.ts";
import { areCanonical } from "../fast/canonical.ts";
import { SCALAR_BYTES } from "../fast/layout.ts";
import type { Part, Sums, Witness } from "../fast/parts.ts";
import { compilePrograms } from "../fast/programs.ts";
import { addUp, assembleProof, mergeSums, sumParts } from "../fast/prove.ts";
import { type ProvingKey, prepareKey } from "../fast/proving-key.ts";
import { hasFusedMultiplyAdd } from "../fast/support.ts";
import { invalidKey, parseZkey, type Zkey } from "../fast/zkey.ts";
import { BASE_FIELD_ORDER } from "../proof/orders.ts";
import type { ProvingEngine } from "./engine.ts";
import { pairingHolds, prepareVerification } from "./pairing-check.ts";
import { hasSecondThread, prepareRemotely, type RemoteKey, startSecondThread } from "./second-thread.ts";
import { newClaimedGroups, shareOf } from "./share.ts";
import { type SnarkjsOptions, snarkjsEngine } from "./snarkjs-engine.ts";

/**
 * The parts of this thread and of the second one. b2, whose additions cost more, belongs to both: each sums the windows that
 * the other has not taken yet, so that both end at about the same time.
 */
const HERE = ["a", "b1", "c", "b2"] as const;
const THERE = ["h", "b2"] as const;
const ALL = ["a", "b1", "b2", "c", "h"] as const;

/** Options of the fast engine. */
export interface FastOptions {
  /** Uses no second thread. Default: false, which uses one under Node if the machine has a second core. */
  singleThread?: boolean | undefined;
}

interface PreparedKey {
  readonly zkey: Zkey;
  /** Prepares this thread's parts when they are first needed: in a proof, after the second thread has its work. */
  here(): Promise<ProvingKey>;
  /** Undefined if this thread works alone. */
  readonly there: RemoteKey | undefined;
}

/** Proves with field arithmetic in WebAssembly. Each engine caches the keys that it has prepared. */
export function fastEngine({ singleThread = false }: FastOptions = {}): ProvingEngine {
  const keys = new WeakMap<Uint8Array, PreparedKey>();
  const keyOf = (file: Uint8Array, alone = singleThread || !hasSecondThread()): PreparedKey => {
    let key = keys.get(file);
    if (key === undefined || key.there?.hasEnded === true) {
      key = prepare(file, alone);
      keys.set(file, key);
    }
    return key;
  };
  /** Waits until the key is prepared. If the second thread cannot prepare it, the key is used without that thread. */
  const readyKeyOf = async (file: Uint8Array): Promise<PreparedKey> => {
    const key = keyOf(file);
    try {
      await key.there?.ready;
    } catch {
      // The runtime forbids workers, or the bundle lacks the worker's file. If the key is invalid, this thread says so.
      keys.delete(file);
      return keyOf(file, true);
    }
    return key;
  };
  const sumsOf = async (file: Uint8Array, witness: Witness, parts: readonly Part[]): Promise<[Zkey, Curve, Sums]> => {
    const { zkey, here, there } = keyOf(file);
    const expected = zkey.variables * SCALAR_BYTES;
    if (witness.byteLength !== expected) {
      const message = `The witness has ${witness.byteLength} bytes, but the proving key needs ${expected}.`;
      throw groth16Error("ENGINE_FAILED", message, { found: witness.byteLength, expected });
    }
    // Start the second thread first, so that both work at the same time. Where there is none, as in pages, there may be no
    // SharedArrayBuffer either.
    const claims = there === undefined ? undefined : newClaimedGroups();
    const asked = claims === undefined ? undefined : there?.sum(witness, parts, claims);
    // If this thread fails first, the other's failure must not be an unhandled rejection.
    asked?.catch(() => undefined);
    const [key, curve] = await Promise.all([here(), sharedCurve()]);
    const sums: Sums[] = [];
    // This thread adds up the sums in G1 before it takes windows of b2. Meanwhile the other thread takes more of those.
    const share = claims === undefined ? undefined : shareOf(claims);
    for (const own of sumParts(key, witness, parts, share)) sums.push(addUp(curve, own));
    try {
      for (const other of (await asked) ?? []) sums.push(addUp(curve, other));
    } catch (error) {
      if ((await readyKeyOf(file)).there === undefined) return sumsOf(file, witness, parts);
      keys.delete(file);
      const reason = error instanceof Error ? error.message : String(error);
      throw groth16Error("ENGINE_FAILED", `The fast engine's second thread failed: ${reason}.`, { reason }, error);
    }
    return [zkey, curve, mergeSums(curve, sums)];
  };
  return {
    name: "sotto-fast",
    start() {
      if (!singleThread && hasSecondThread()) startSecondThread();
      sharedCurve().catch(() => undefined);
      compilePrograms().catch(() => undefined);
    },
    async warm(file) {
      await Promise.all([readyKeyOf(file).then(({ here }) => here()), sharedCurve()]);
    },
    async rehearse(file) {
      await sumsOf(file, exampleWitness(keyOf(file).zkey), ALL);
    },
    async prove(file, witness) {
      const [zkey, curve, sums] = await sumsOf(file, witness, ALL);
      return assembleProof(zkey, curve, sums as Required<Sums>);
    },
    async sums(file, witness, parts) {
      return (await sumsOf(file, witness, parts))[2];
    },
    prepareVerification,
    verify: pairingHolds,
  };
}

/** Any field elements: each below 2^248. */
function exampleWitness({ variables }: Zkey): Witness {
  const length = variables * SCALAR_BYTES;
  return Uint8Array.from({ length }, (_, index) => (index % SCALAR_BYTES === 31 ? 0 : (index * 167) >> 3));
}

/** Begins to prepare a key. @throws Groth16Error PROVING_KEY_INVALID */
function prepare(file: Uint8Array, alone: boolean): PreparedKey {
  const zkey = parseZkey(file);
  const there = alone ? undefined : tryRemotely(file);
  let here: Promise<ProvingKey> | undefined;
  return {
    zkey,
    here() {
      if (here === undefined) {
        here = prepareHere(zkey, there === undefined ? ALL : HERE);
        // The next call tries again.
        here.catch(() => {
          here = undefined;
        });
      }
      return here;
    },
    there,
  };
}

/** @throws Groth16Error PROVING_KEY_INVALID, ENGINE_FAILED */
async function prepareHere(zkey: Zkey, parts: readonly Part[]): Promise<ProvingKey> {
  assertHeaderPoints(zkey, await sharedCurve());
  try {
    return await prepareKey(zkey, parts, await compilePrograms());
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `The proving key is too large for the engine: ${error.message}.`;
    throw groth16Error("ENGINE_FAILED", message, { domainSize: zkey.domainSize }, error);
  }
}

/** A point of another order could make a proof that reveals its witness, although it verifies. */
function assertHeaderPoints({ alpha1, beta1, delta1, beta2, delta2 }: Zkey, { G1, G2 }: Curve): void {
  const assertIn = (group: Group, points: readonly Uint8Array[]): void => {
    for (const bytes of points) {
      const point = group.fromFile(bytes);
      const coordinates = group.toCoordinates(point);
      const isIn = areCanonical(bytes, BASE_FIELD_ORDER) && !group.isZero(point);
      if (!isIn || !group.isOnCurve(coordinates) || !group.hasOrderR(coordinates))
        throw invalidKey("a point of its header is not in its group");
    }
  };
  assertIn(G1, [alpha1, beta1, delta1]);
  assertIn(G2, [beta2, delta2]);
}

function tryRemotely(file: Uint8Array): RemoteKey | undefined {
  try {
    const there = prepareRemotely(file, THERE);
    // Callers that await `ready` get the error.
    there.ready.catch(() => undefined);
    return there;
  } catch {
    // This runtime has no worker threads.
    return undefined;
  }
}

/** The fast engine if the machine supports it, else snarkjs. */
export function defaultEngine(options: FastOptions & SnarkjsOptions = {}): ProvingEngine {
  return hasFusedMultiplyAdd() ? fastEngine(options) : snarkjsEngine(options);
}
