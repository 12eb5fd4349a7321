import { join } from "node:path";
import { deriveKeys, FIELD_MODULUS, NoteTree, noteCommitment, type OriginArguments } from "@sotto/protocol";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { assert } from "chai";
import { createProver, createVerifier, loadArtifacts, type Prover, type Verifier } from "../src/index.ts";
import { type OriginProof, proveOrigin, verifyOrigin } from "../src/origin.ts";

const BUILD = join(import.meta.dirname, "..", "..", "..", "circuits", "build");

const DEPLOYMENT = { chainId: 31337n, pool: "0x5fbdb2315678afecb367f032d93f642f64180aa3" };
const payer = deriveKeys(new Uint8Array(32).fill(1), DEPLOYMENT);
const notes = [3n, 4n].map((amount, leafIndex) => ({
  leafIndex,
  amount,
  blinding: 77n,
  spendingKey: payer.spendingKey(0),
}));
const leaves = notes.map((note) => noteCommitment({ ...note, ownerTag: payer.ownerTag(0) }));

/** The origin of the note, in the set with these leaves. */
function originOf(index: number, set: readonly bigint[] = leaves): OriginArguments {
  const tree = new NoteTree(set);
  return { note: notes[index]!, path: tree.path(index), maskRoot: tree.root };
}

describe("origins", function () {
  slow(this, "proofs are made");
  let prover: Prover;
  let verifier: Verifier;
  let shown: OriginProof;

  before(async () => {
    const artifacts = await loadArtifacts({ folder: BUILD });
    [prover, verifier] = [createProver(artifacts), createVerifier({ artifacts })];
    shown = await proveOrigin(prover, originOf(0));
  });

  it("are verified for the proved mask root and nullifier, and for no others", async () => {
    assert.isTrue(await verifyOrigin(verifier, shown));
    const other = await proveOrigin(prover, originOf(1));
    assert.equal(other.maskRoot, shown.maskRoot);
    assert.notEqual(other.nullifier, shown.nullifier);
    assert.isTrue(await verifyOrigin(verifier, other));
    assert.isFalse(await verifyOrigin(verifier, { ...shown, nullifier: other.nullifier }));
    assert.isFalse(await verifyOrigin(verifier, { ...shown, proof: other.proof }));
    const later = originOf(0, [...leaves, 5n]);
    assert.isFalse(await verifyOrigin(verifier, { ...shown, maskRoot: later.maskRoot }), "a later root of the set");
    assert.isTrue(await verifyOrigin(verifier, await proveOrigin(prover, later)));
  });

  it("differ in every word when proved twice for the same note and set", async () => {
    const again = await proveOrigin(prover, originOf(0));
    for (const [index, word] of again.proof.entries()) assert.notEqual(word, shown.proof[index]);
    assert.isTrue(await verifyOrigin(verifier, again));
  });

  it("of a note outside the set are refused before the prover is asked", async () => {
    const asked: string[] = [];
    const recording: Pick<Prover, "prove"> = {
      prove(circuit, ...rest) {
        asked.push(circuit);
        return prover.prove(circuit, ...rest);
      },
    };
    const error = await expectRejected("NOTE_NOT_IN_MASK", () => proveOrigin(recording, originOf(0, [9n, leaves[1]!])));
    assert.notInclude(`${error.message}${JSON.stringify(error.details)}`, String(payer.spendingKey(0)));
    const foreign = { ...originOf(0), maskRoot: originOf(0, [leaves[0]!]).maskRoot };
    await expectRejected("INVALID_MASK_PATH", () => proveOrigin(recording, foreign));
    assert.deepEqual(asked, []);
    await proveOrigin(recording, originOf(0));
    assert.deepEqual(asked, ["origin"]);
  });

  it("stop when the caller aborts", async () => {
    const signal = AbortSignal.abort();
    await expectRejected("ABORTED", () => proveOrigin(prover, originOf(0), { signal }));
  });

  it("that are malformed are refused with the reason", async () => {
    const refused = (change: Partial<OriginProof>) => () => verifyOrigin(verifier, { ...shown, ...change });
    await expectRejected("PROOF_MALFORMED", refused({ proof: shown.proof.slice(1) }));
    await expectRejected("SIGNAL_RANGE", refused({ nullifier: FIELD_MODULUS }));
    await expectRejected("SIGNALS_MALFORMED", refused({ maskRoot: -1n }));
    for (const maskRoot of [undefined, "5", { toString: 1, valueOf: 1 }])
      await expectRejected("SIGNALS_MALFORMED", refused({ maskRoot: maskRoot as never }));
    for (const nothing of [undefined, null, "", {}])
      await expectRejected("SIGNALS_MALFORMED", () => verifyOrigin(verifier, nothing as never));
  });
});
