import { join } from "node:path";
import { type Groth16Error, parseVerificationKey } from "@sotto/groth16";
import { SottoError } from "@sotto/protocol";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { buildToy, TOY_INPUT, TOY_SIGNALS, toyLock } from "@sotto/test-kit/toy";
import { assert } from "chai";
import { type Artifacts, createProver, createVerifier, loadArtifacts, ProverError } from "../src/index.ts";
import { statements } from "./support/statements.ts";

const BUILD = join(import.meta.dirname, "..", "..", "..", "circuits", "build");

describe("provers and verifiers of named circuits", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let artifacts: Artifacts;

  before(async () => {
    const build = await buildToy(import.meta.dirname);
    artifacts = await loadArtifacts({ folder: build, lock: toyLock(build) });
  });

  it("proves what verifiers with the artifacts and with the keys accept", async () => {
    const stages: string[] = [];
    const onProgress = (stage: string, circuit: string): number => stages.push(`${circuit} ${stage}`);
    const { proof, publicSignals } = await createProver(artifacts).prove("toy", TOY_INPUT, { onProgress });
    assert.deepEqual(publicSignals, TOY_SIGNALS);
    assert.deepEqual(stages, ["toy artifacts", "toy witness", "toy proof", "toy check", "toy done"]);
    const vkeys = { toy: await artifacts.verificationKey("toy") };
    for (const verifier of [createVerifier({ artifacts }), createVerifier({ vkeys })]) {
      await verifier.warm("toy");
      assert.isTrue(await verifier.verify("toy", proof, publicSignals));
      assert.isFalse(await verifier.verify("toy", proof, ["210", "43"]));
      await expectRejected("CIRCUIT_UNKNOWN", () => verifier.warm("another"));
      await expectRejected("CIRCUIT_UNKNOWN", () => verifier.verify("constructor", proof, publicSignals));
      await expectRejected("PROOF_MALFORMED", () => verifier.verify("toy", proof.slice(1), publicSignals));
    }
  });

  it("proves again after closing, and knows only the circuits of its artifacts", async () => {
    const prover = createProver(artifacts);
    for (const _ of [1, 2]) {
      assert.deepEqual((await prover.prove("toy", TOY_INPUT)).publicSignals, TOY_SIGNALS);
      await prover.close();
    }
    await expectRejected("CIRCUIT_UNKNOWN", () => prover.warm("other"));
    await expectRejected("CIRCUIT_UNKNOWN", () => prover.load("other"));
    await expectRejected("CIRCUIT_UNKNOWN", () => prover.prove("other", TOY_INPUT));
  });

  it("reports errors of @sotto/groth16 as errors of sotto", async () => {
    const error = await createProver(artifacts)
      .prove("toy", { ...TOY_INPUT, product: 1n })
      .catch((error: unknown) => error);
    assert.instanceOf(error, SottoError);
    assert.notInstanceOf(error, ProverError);
    const { name, code, details, message, parts } = error as Groth16Error;
    assert.deepEqual([name, code, details["circuit"], parts], ["Groth16Error", "WITNESS_REFUSED", "toy", [message]]);
    assert.isFalse(Object.assign(new Error("x"), { code: "E", details: {} }) instanceof SottoError);
  });

  it("refuses keys that are malformed, and both or neither of artifacts and keys", async () => {
    await expectRejected("VERIFICATION_KEY_INVALID", () => createVerifier({ vkeys: { toy: {} } }));
    await expectRejected("ARTIFACTS_SOURCE_INVALID", () => createVerifier({}));
    await expectRejected("ARTIFACTS_SOURCE_INVALID", () => createVerifier({ artifacts, vkeys: {} }));
    const key = await artifacts.verificationKey("toy");
    assert.deepEqual(parseVerificationKey(JSON.stringify(key)), key);
  });

  it("prepares payments for the resource and for the change hint, and for no other signal", async () => {
    const payments = await loadArtifacts({ folder: BUILD });
    const [prover, verifier] = [createProver(payments), createVerifier({ artifacts: payments })];
    const { input, publicSignals } = statements(1).payment;
    for (const [free, position] of [
      ["resourceUrl", 1],
      ["changeHint", 9],
    ] as const) {
      const made = await (await prover.prepare("payment", input, free)).finish(77n);
      assert.deepEqual(made.publicSignals, publicSignals.with(position, 77n).map(String));
      assert.isTrue(await verifier.verify("payment", made.proof, made.publicSignals));
      assert.isFalse(await verifier.verify("payment", made.proof, publicSignals.map(String)));
    }
    // A root of 0 contradicts the path, so there is no witness.
    await expectRejected("WITNESS_REFUSED", () => prover.prepare("payment", input, "root"));
    await expectRejected("INPUT_INVALID", () => prover.prepare("payment", input, "resourceURL"));
    // The mask root of an origin is computed from its path, so no other root has a witness.
    await expectRejected("WITNESS_REFUSED", () => prover.prepare("origin", statements(1).origin.input, "maskRoot"));
  });
});
