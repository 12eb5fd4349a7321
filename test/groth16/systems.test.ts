import { createCircuitVerifier, encodeProof, fastEngine, parseVerificationKey, groth16 as sotto } from "@sotto/groth16";
import { KeyMaker } from "@sotto/keys/setup/development-keys";
import { stopSnarkjs } from "@sotto/keys/verifiers/stop-snarkjs";
import { keyOf } from "@sotto/test-circuits/built";
import { type Combination, type System, witnessBytes, wtnsFile } from "@sotto/test-circuits/r1cs-file";
import { type RandomSystem, randomSystem, type Values } from "@sotto/test-circuits/random-system";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { SCALAR_FIELD_ORDER as r } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { snarkjsProof } from "@sotto/test-kit/snarkjs-proof";
import { assert } from "chai";
import { groth16 } from "snarkjs";

const VALUES: readonly Values[] = ["any", "bits", "zeros", "largest"];
const SYSTEMS = fuzzSize(12, 240);

const one: Combination = [[0, 1n]];
const only = (wire: number, coefficient = 1n): Combination => [[wire, coefficient]];

/** Wires 1 to `count` - 1 occur in one constraint each, all in the same combination, so that their bases are equal. */
function equalBases(count: number, value: bigint, coefficient: (wire: number) => bigint): RandomSystem {
  const witness = [1n, ...new Array<bigint>(count - 1).fill(value)];
  const wires = Array.from({ length: count - 1 }, (_, index) => index + 1);
  const sum = wires.map((wire) => [wire, coefficient(wire)] as const);
  const total = sum.reduce((all, [, factor]) => all + factor * value, 0n) % r;
  const product = (total * total) % r;
  return {
    ...{ wires: count + 1, publicSignals: 0, witness: [...witness, product] },
    constraints: [{ a: sum, b: sum, c: only(count) }],
  };
}

const EDGES: Readonly<Record<string, RandomSystem>> = {
  "one constraint and no public signal": {
    ...{ wires: 2, publicSignals: 0, witness: [1n, 1n] },
    constraints: [{ a: only(1), b: only(1), c: only(1) }],
  },
  "constraints without wires": {
    ...{ wires: 2, publicSignals: 1, witness: [1n, 5n] },
    constraints: [
      { a: [], b: [], c: [] },
      { a: one, b: [], c: [] },
    ],
  },
  "public signals in no constraint": {
    ...{ wires: 6, publicSignals: 3, witness: [1n, 0n, r - 1n, 7n, 3n, 9n] },
    constraints: [{ a: only(4), b: only(4), c: only(5) }],
  },
  "a signal that is public and linear only": {
    ...{ wires: 3, publicSignals: 1, witness: [1n, 8n, 4n] },
    constraints: [{ a: only(2, 2n), b: one, c: only(1) }],
  },
  "the largest coefficients and values": {
    ...{ wires: 4, publicSignals: 1, witness: [1n, r - 1n, r - 1n, 1n] },
    constraints: [
      { a: only(1, r - 1n), b: only(2, r - 1n), c: only(3) },
      { a: only(2), b: only(2), c: only(3) },
    ],
  },
  "100 equal bases with equal scalars": equalBases(100, 1n, () => 1n),
  "100 equal and opposite bases with equal scalars": equalBases(100, r - 1n, (wire) => (wire % 2 === 0 ? 1n : r - 1n)),
  "a witness of zeros": randomSystem({ seed: "zeros", constraints: 50, publicSignals: 4, values: "zeros" }),
  "wires in no constraint": randomSystem({ seed: "unused", constraints: 20, publicSignals: 2, unused: 40 }),
  "every row of the domain used": randomSystem({ seed: "full", constraints: 61, publicSignals: 2 }),
  "one row more than a domain": randomSystem({ seed: "more", constraints: 62, publicSignals: 2 }),
};

describe("constraint systems that no compiler wrote", function () {
  slow(this, "keys are made");
  let maker: KeyMaker;
  const engines = [fastEngine(), fastEngine({ singleThread: true })];

  before(async () => {
    maker = await KeyMaker.start();
  });
  after(async () => {
    await maker.stop();
    await stopSnarkjs();
  });

  /** Proves with both engines and with snarkjs, and verifies all proofs with both verifiers. */
  async function compare(system: System & { readonly witness: readonly bigint[] }): Promise<void> {
    const key = await keyOf(maker, system);
    const vkey = JSON.parse(key.vkey);
    const zkey = new Uint8Array(Buffer.concat(key.zkey));
    const signals = system.witness.slice(1, system.publicSignals + 1).map(String);
    const verifier = createCircuitVerifier(parseVerificationKey(vkey));
    for (const engine of engines) {
      const proof = encodeProof(await engine.prove(zkey, witnessBytes(system.witness)));
      assert.isTrue(await verifier.verify(proof, signals));
      assert.isTrue(await groth16.verify(vkey, signals, snarkjsProof(proof) as never));
      for (const index of signals.keys()) {
        const other = signals.with(index, String((BigInt(signals[index]!) + 1n) % r));
        assert.isFalse(await verifier.verify(proof, other));
      }
    }
    const { proof, publicSignals } = await groth16.prove(zkey, wtnsFile(witnessBytes(system.witness)));
    assert.deepEqual(publicSignals, signals);
    assert.isTrue(await sotto.verify(vkey, signals, proof));
  }

  for (const [name, system] of Object.entries(EDGES)) {
    it(`prove and verify as with snarkjs: ${name}`, () => compare(system));
  }

  it("prove and verify as with snarkjs: random systems of up to 400 constraints", async () => {
    for (let index = 0; index < SYSTEMS; index++) {
      const seed = `system ${index}`;
      const shape = { constraints: 1 + ((index * 7919) % 400), publicSignals: index % 5, unused: index % 3 };
      const system = randomSystem({ ...shape, seed, values: VALUES[index % VALUES.length]! });
      await compare(system).catch((cause: unknown) => {
        throw new Error(`the system of the seed "${seed}"`, { cause });
      });
    }
  });

  it("gives no valid proof for a witness that does not satisfy the system", async () => {
    const system = randomSystem({ seed: "false", constraints: 30, publicSignals: 2 });
    const key = await keyOf(maker, system);
    const zkey = new Uint8Array(Buffer.concat(key.zkey));
    const verifier = createCircuitVerifier(parseVerificationKey(key.vkey));
    const signals = system.witness.slice(1, 3).map(String);
    for (const engine of engines) {
      const good = encodeProof(await engine.prove(zkey, witnessBytes(system.witness)));
      assert.isTrue(await verifier.verify(good, signals));
      const changed = system.witness.with(-1, (system.witness.at(-1)! + 1n) % r);
      const bad = encodeProof(await engine.prove(zkey, witnessBytes(changed)));
      assert.isFalse(await verifier.verify(bad, signals));
    }
  });
});
