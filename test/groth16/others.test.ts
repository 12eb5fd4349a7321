import { readFileSync } from "node:fs";
import {
  type CircuitProver,
  createCircuitProver,
  type Groth16Proof,
  parseVerificationKey,
  groth16 as sotto,
} from "@sotto/groth16";
import { stopSnarkjs } from "@sotto/keys/verifiers/stop-snarkjs";
import { type Built, builtCircuit, type NamedCircuit } from "@sotto/test-circuits/built";
import { statementOf } from "@sotto/test-circuits/statements";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { snarkjsProof } from "@sotto/test-kit/snarkjs-proof";
import { assert } from "chai";
import { groth16 } from "snarkjs";

const USUAL: readonly NamedCircuit[] = ["poseidon", "mimc", "eddsa", "smt", "membership", "mixer", "rsa", "sha256"];
const CIRCUITS: readonly NamedCircuit[] = process.env["SOTTO_LONG"] === "1" ? [...USUAL, "sha256_long"] : USUAL;

const proverOf = (name: NamedCircuit, { wasm, zkey, vkey }: Built): CircuitProver =>
  createCircuitProver({
    name,
    wasm: async () => readFileSync(wasm),
    zkey: async () => readFileSync(zkey),
    verificationKey: async () => parseVerificationKey(readFileSync(vkey, "utf8")),
  });

describe("circuits of others", function () {
  slow(this, "circuits are compiled, and their keys made");
  after(stopSnarkjs);

  for (const name of CIRCUITS) {
    it(`${name}: snarkjs verifies our proof, and we verify snarkjs's`, async () => {
      const built = await builtCircuit(name);
      const json = JSON.parse(readFileSync(built.vkey, "utf8"));
      const { input, publicSignals } = await statementOf(name);
      const expected = publicSignals.map(String);
      const prover = proverOf(name, built);
      const ours = await prover.prove(input);
      assert.deepEqual(ours.publicSignals, expected);
      const proof = snarkjsProof(ours.proof) as Groth16Proof;
      assert.isTrue(await groth16.verify(json, ours.publicSignals, proof));
      const theirs = await groth16.fullProve(input as never, built.wasm, built.zkey);
      assert.deepEqual(theirs.publicSignals, expected);
      assert.isTrue(await sotto.verify(json, theirs.publicSignals, theirs.proof));
      const false1 = expected.with(0, String(publicSignals[0]! ^ 1n));
      assert.isFalse(await sotto.verify(json, false1, theirs.proof));
      assert.isFalse(await sotto.verify(json, false1, proof));
      prover.close();
    });
  }

  it("eddsa, smt and rsa: false statements are refused", async () => {
    const wrong = { eddsa: { M: 1n }, smt: { value: 8n }, rsa: { message: new Array<bigint>(16).fill(1n) } };
    for (const [name, change] of Object.entries(wrong) as [keyof typeof wrong, object][]) {
      const prover = proverOf(name, await builtCircuit(name));
      const { input } = await statementOf(name);
      await expectRejected("WITNESS_REFUSED", () => prover.prove({ ...input, ...change }));
    }
  });
});
