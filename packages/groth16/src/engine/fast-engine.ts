/**
 * The fast engine makes the same proofs as snarkjs from the same files, with its own kernels (src/fast). It needs
 * WebAssembly's SIMD. With relaxed SIMD and a machine that fuses multiply-add, it is about twice as fast as without.
 */

import { type Curve, type Group, sharedCurve } from "../curve.ts";
import { groth16Error } from "../errors.ts";
import { areCanonical } from "../fast/canonical.ts";
import { KernelMemoryError } from "../fast/kernel.ts";
import { areInMemory } from "../fast/key-bytes.ts";
import { SCALAR_BYTES } from "../fast/layout.ts";
import type { Part, Sums, Witness } from "../fast/parts.ts";
import { compilePrograms } from "../fast/programs.ts";
import { addUp, assembleProof, mergeSums, sumParts } from "../fast/prove.ts";
import { type ProvingKey, prepareKey } from "../fast/proving-key.ts";
import { invalidKey, parseZkey, type Zkey } from "../fast/zkey.ts";
import { BASE_FIELD_ORDER } from "../proof/orders.ts";
import type { ProvingEngine } from "./engine.ts";
import type { KeyOnDisk } from "./key-on-disk.ts";
import { pairingHolds, prepareVerification } from "./pairing-check.ts";
import { type OtherThreads, otherThreads, prepareRemotely, type RemoteKey, startThreads } from "./second-thread.ts";
import { type Claims, claimsOfTwo, copyForThreads, forThreads, shareOf } from "./share.ts";

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
  /**
   * In a page, proves in two workers, so that the page does not wait for the proof. They are started from a `blob:` URL, which
   * its policy (CSP) must allow; else the calling thread proves. Default: false, because a page usually runs the whole prover in
   * a worker of its own.
   */
  pageWorkers?: boolean | undefined;
}

interface PreparedKey {
  readonly zkey: Zkey;
  /** Prepares this thread's parts, if it has any, when they are first needed: in a proof, after the others have their work. */
  here(): Promise<ProvingKey | undefined>;
  /** On other threads: none if this thread works alone; one, or two of a page, which leave nothing to this thread. */
  readonly there: readonly RemoteKey[];
}

/** Proves with field arithmetic in WebAssembly. Each engine caches the keys that it has prepared. */
export function fastEngine(options: FastOptions = {}): ProvingEngine {
  return engineOfFiles(options);
}

/** A .zkey file: its bytes, or where it is. */
export type KeyFile = Uint8Array | KeyOnDisk;

/** The fast engine, which also reads a key from its file. */
export function engineOfFiles({ singleThread = false, pageWorkers = false }: FastOptions): ProvingEngine<KeyFile> {
  const others = (): OtherThreads => otherThreads(singleThread, pageWorkers);
  const keys = new WeakMap<KeyFile, PreparedKey>();
  const keyOf = (file: KeyFile, count = others()): PreparedKey => {
    let key = keys.get(file);
    if (key === undefined || key.there.some(({ hasEnded }) => hasEnded)) {
      key = prepare(file, count);
      keys.set(file, key);
    }
    return key;
  };
  /** Waits until the key is prepared. If another thread cannot prepare it, the key is used without other threads. */
  const readyKeyOf = async (file: KeyFile): Promise<PreparedKey> => {
    const key = keyOf(file);
    try {
      await Promise.all(key.there.map(({ ready }) => ready));
    } catch {
      // The runtime forbids workers, or the bundle lacks the worker's file. If the key cannot be read or is invalid, this thread says so.
      keys.delete(file);
      return keyOf(file, 0);
    }
    return key;
  };
  const sumsOf = async (file: KeyFile, witness: Witness, parts: readonly Part[]): Promise<[Zkey, Curve, Sums]> => {
    const { zkey, here, there } = keyOf(file);
    const expected = zkey.variables * SCALAR_BYTES;
    if (witness.byteLength !== expected) {
      const message = `The witness has ${witness.byteLength} bytes, but the proving key needs ${expected}.`;
      throw groth16Error("ENGINE_FAILED", message, { found: witness.byteLength, expected });
    }
    // One copy for all. Alone, there may be no SharedArrayBuffer.
    const shared = there.length === 0 ? witness : copyForThreads(witness);
    const claims = there.length === 0 ? [] : claimsOfTwo();
    // Start the other threads first, so that all work at the same time.
    const asked = there.map((remote, index) => remote.sum(shared, parts, claims[index] as Claims));
    // If this thread or another one fails first, a failure must not be an unhandled rejection.
    for (const answer of asked) answer.catch(() => undefined);
    try {
      const [key, curve] = await Promise.all([here(), sharedCurve()]);
      const sums: Sums[] = [];
      if (key !== undefined) {
        // This thread adds up the sums in G1 before it takes windows of b2. Meanwhile the other thread takes more of those.
        const share = claims[1] === undefined ? undefined : shareOf(claims[1]);
        try {
          for (const own of sumParts(key, witness, parts, share)) sums.push(addUp(curve, own));
        } catch (error) {
          throw withCode(zkey, error);
        }
      }
      try {
        for (const other of (await Promise.all(asked)).flat()) sums.push(addUp(curve, other));
      } catch (error) {
        if ((await readyKeyOf(file)).there.length === 0) return sumsOf(file, witness, parts);
        keys.delete(file);
        const reason = error instanceof Error ? error.message : String(error);
        throw groth16Error("ENGINE_FAILED", `The fast engine's second thread failed: ${reason}.`, { reason }, error);
      }
      return [zkey, curve, mergeSums(curve, sums)];
    } finally {
      if (shared !== witness) shared.fill(0);
    }
  };
  return {
    name: "sotto-fast",
    start() {
      startThreads(others());
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

/** Begins to prepare a key. @throws Groth16Error PROVING_KEY_INVALID, CIRCUIT_FILE_UNREADABLE */
function prepare(file: KeyFile, others: OtherThreads): PreparedKey {
  const zkey = parseZkey(file);
  const there = tryRemotely(file, others);
  let here: Promise<ProvingKey | undefined> | undefined;
  return {
    zkey,
    here() {
      if (here === undefined) {
        here = prepareHere(zkey, there.length);
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

/**
 * Checks the key's header, and prepares what this thread sums: nothing beside two other threads.
 * @throws Groth16Error PROVING_KEY_INVALID, CIRCUIT_FILE_UNREADABLE, CIRCUIT_TOO_LARGE, ENGINE_FAILED
 */
async function prepareHere(zkey: Zkey, others: number): Promise<ProvingKey | undefined> {
  assertHeaderPoints(zkey, await sharedCurve());
  if (others === 2) return undefined;
  const programs = await compilePrograms();
  return prepareKey(zkey, others === 0 ? ALL : HERE, programs).catch((error: unknown) => {
    throw withCode(zkey, error);
  });
}

/** The error of a kernel that would need more memory than there is, with a code; any other as it is. */
function withCode({ domainSize }: Zkey, error: unknown): unknown {
  if (!(error instanceof KernelMemoryError)) return error;
  const message = `The circuit is too large for the engine: ${error.message}.`;
  return groth16Error("CIRCUIT_TOO_LARGE", message, { domainSize }, error);
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

function tryRemotely(file: KeyFile, others: OtherThreads): RemoteKey[] {
  try {
    const shares = [THERE, HERE].slice(0, others);
    if (shares.length === 0) return [];
    const shared = areInMemory(file) ? forThreads(file) : file;
    const there = shares.map((parts, index) => prepareRemotely(shared, parts, index as 0 | 1));
    // Callers that await `ready` get the error.
    for (const { ready } of there) ready.catch(() => undefined);
    return there;
  } catch {
    // This runtime has no worker threads.
    return [];
  }
}
