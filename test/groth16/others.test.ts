import { readFileSync } from "node:fs";
import { createCircuitProver, createCircuitVerifier, parseVerificationKey } from "@sotto/groth16";
import { stopSnarkjs } from "@sotto/keys/verifiers/stop-snarkjs";
import { builtCircuit, type NamedCircuit } from "@sotto/test-circuits/built";
import { statementOf } from "@sotto/test-circuits/statements";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { snarkjsProof } from "@sotto/test-kit/snarkjs-proof";
import { assert } from "chai";
import { groth16 } from "snarkjs";

const USUAL: readonly NamedCircuit[] = ["poseidon", "mimc", "eddsa", "smt", "membership", "mixer", "rsa", "sha256"];
const CIRCUITS: readonly NamedCircuit[] = process.env["SOTTO_LONG"] === "1" ? [...USUAL, "sha256_long"] : USUAL;

describe("circuits of others", function () {
  slow(this, "circuits are compiled, and their keys made");
  after(stopSnarkjs);

  for (const name of CIRCUITS) {
    it(`${name}: snarkjs verifies our proof, and we verify snarkjs's`, async () => {
      const { wasm, zkey, vkey } = await builtCircuit(name);
      const json = JSON.parse(readFileSync(vkey, "utf8"));
      const { input, publicSignals } = await statementOf(name);
      const expected = publicSignals.map(String);
      const prover = createCircuitProver({
        name,
        wasm: async () => readFileSync(wasm),
        zkey: async () => readFileSync(zkey),
        verificationKey: async () => parseVerificationKey(json),
      });
      const ours = await prover.prove(input);
      assert.deepEqual(ours.publicSignals, expected);
      assert.isTrue(await groth16.verify(json, ours.publicSignals, snarkjsProof(ours.proof) as never));
      const theirs = await groth16.fullProve(input as never, wasm, zkey);
      assert.deepEqual(theirs.publicSignals, expected);
      const { pi_a, pi_b, pi_c } = theirs.proof as unknown as { pi_a: string[]; pi_b: string[][]; pi_c: string[] };
      const words = [...pi_a.slice(0, 2), ...pi_b.slice(0, 2).flat(), ...pi_c.slice(0, 2)];
      const verifier = createCircuitVerifier(parseVerificationKey(json));
      assert.isTrue(await verifier.verify(words, theirs.publicSignals));
      const false1 = expected.with(0, String(publicSignals[0]! ^ 1n));
      assert.isFalse(await verifier.verify(words, false1));
      assert.isFalse(await verifier.verify(ours.proof, false1));
      prover.close();
    });
  }

  it("eddsa, smt and rsa: false statements are refused", async () => {
    const wrong = { eddsa: { M: 1n }, smt: { value: 8n }, rsa: { message: new Array<bigint>(16).fill(1n) } };
    for (const [name, change] of Object.entries(wrong) as [keyof typeof wrong, object][]) {
      const { wasm, zkey, vkey } = await builtCircuit(name);
      const prover = createCircuitProver({
        name,
        wasm: async () => readFileSync(wasm),
        zkey: async () => readFileSync(zkey),
        verificationKey: async () => parseVerificationKey(readFileSync(vkey, "utf8")),
      });
      const { input } = await statementOf(name);
      await expectRejected("WITNESS_REFUSED", () => prover.prove({ ...input, ...change }));
    }
  });
});
