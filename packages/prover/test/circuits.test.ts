import { join } from "node:path";
import { fastEngine } from "@sotto/groth16";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { type Artifacts, createProver, createVerifier, loadArtifacts, type Verifier } from "../src/index.ts";
import { type Statement, statements } from "./support/statements.ts";

const BUILD = join(import.meta.dirname, "..", "..", "..", "circuits", "build");

const VARIANTS = process.env["SOTTO_LONG"] === "1" ? 50 : 3;

describe("all circuits, under the compiled-in lock", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let artifacts: Artifacts;
  let verifier: Verifier;
  let prepared: Record<string, Statement>;
  const proofs = new Map<string, string[]>();

  before(async () => {
    artifacts = await loadArtifacts({ folder: BUILD });
    verifier = createVerifier({ artifacts });
    prepared = statements();
  });

  for (const name of ["payment", "elgamal_range", "withdrawal", "note_append", "origin"]) {
    it(`${name}: the fast engine proves the prepared signals`, async () => {
      const { input, publicSignals } = prepared[name]!;
      const made = await createProver({ artifacts, engine: fastEngine() }).prove(name, input);
      assert.deepEqual(made.publicSignals, publicSignals.map(String));
      assert.isTrue(await verifier.verify(name, made.proof, made.publicSignals));
      proofs.set(name, made.proof);
      for (const index of publicSignals.keys()) {
        const changed = made.publicSignals.with(index, String(publicSignals[index]! + 1n));
        assert.isFalse(await verifier.verify(name, made.proof, changed), `signal ${index}`);
      }
    });
  }

  it("prove payments and ranges for different payers, notes and amounts", async () => {
    const prover = createProver({ artifacts, engine: fastEngine(), selfCheck: false });
    for (let variant = 1; variant <= VARIANTS; variant++) {
      const { payment, elgamal_range } = statements(variant);
      for (const [name, { input, publicSignals }] of Object.entries({ payment, elgamal_range })) {
        const made = await prover.prove(name, input);
        assert.deepEqual(made.publicSignals, publicSignals.map(String));
        assert.isTrue(await verifier.verify(name, made.proof, made.publicSignals), `${name} ${variant}`);
      }
    }
  });

  it("reject a proof of another circuit", async () => {
    for (const [name, { publicSignals }] of Object.entries(prepared)) {
      for (const [other, proof] of proofs) {
        if (other !== name) assert.isFalse(await verifier.verify(name, proof, publicSignals.map(String)));
      }
    }
  });

  it("reject inputs with a wrong size, a missing name or a false statement, and name the problem", async () => {
    const prover = createProver(artifacts);
    const { input } = prepared["payment"]!;
    const short = { ...input, pathChildren: (input["pathChildren"] as bigint[][]).slice(1) };
    const sized = await expectRejected("INPUT_INVALID", () => prover.prove("payment", short));
    assert.equal(sized.details["signal"], "pathChildren");
    const { spendingKey, ...without } = input;
    const missing = await expectRejected("INPUT_INVALID", () => prover.prove("payment", without));
    assert.match(missing.message, /takes \d+ field elements, found \d+: an input is missing/);
    const richer = { ...input, amount: (input["amount"] as bigint) + 1n };
    const refused = await expectRejected("WITNESS_REFUSED", () => prover.prove("payment", richer));
    assert.notInclude(`${refused.message}${JSON.stringify(refused.details)}`, String(spendingKey));
  });
});
