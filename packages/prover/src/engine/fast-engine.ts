/**
 * The fast engine: the same proofs as snarkjs's from the same files, on kernels of its own (src/fast). One thread.
 * It needs WebAssembly's relaxed SIMD on a machine with fused multiply-add; where that is missing, snarkjs proves.
 */
import { proverError } from "../errors.ts";
import { proveWithKey } from "../fast/prove.ts";
import { type ProvingKey, prepareKey } from "../fast/proving-key.ts";
import { hasFusedMultiplyAdd } from "../fast/support.ts";
import { parseZkey } from "../fast/zkey.ts";
import { sharedCurve } from "./curve.ts";
import type { ProvingEngine } from "./engine.ts";
import { pairingHolds } from "./pairing-check.ts";
import { type SnarkjsOptions, snarkjsEngine } from "./snarkjs-engine.ts";

export function fastEngine(): ProvingEngine {
  const keys = new WeakMap<Uint8Array, Promise<ProvingKey>>();
  const keyOf = (zkey: Uint8Array): Promise<ProvingKey> => {
    let key = keys.get(zkey);
    if (key === undefined) {
      key = Promise.resolve().then(() => prepareKey(parseZkey(zkey)));
      keys.set(zkey, key);
    }
    return key;
  };
  return {
    name: "sotto-fast",
    async warm(zkey) {
      await Promise.all([keyOf(zkey), sharedCurve()]);
    },
    async prove(zkey, witness) {
      const [key, curve] = await Promise.all([keyOf(zkey), sharedCurve()]);
      const expected = key.zkey.variables * 32;
      if (witness.byteLength !== expected) {
        const message = `The witness has ${witness.byteLength} bytes, the proving key wants ${expected}.`;
        throw proverError("ENGINE_FAILED", message, { found: witness.byteLength, expected });
      }
      return proveWithKey(key, curve, witness);
    },
    verify: pairingHolds,
  };
}

/** The fast engine where it can run, snarkjs elsewhere. */
export function defaultEngine(options: SnarkjsOptions = {}): ProvingEngine {
  return hasFusedMultiplyAdd() ? fastEngine() : snarkjsEngine(options);
}
