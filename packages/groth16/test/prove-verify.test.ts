import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bn254 } from "@noble/curves/bn254.js";
import { eventually } from "@sotto/test-kit/eventually";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { snarkjsProof } from "@sotto/test-kit/snarkjs-proof";
import { buildToy, TOY_INPUT, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { twistPoint } from "@sotto/test-kit/twist-points";
import { withSnarkjs } from "@sotto/test-kit/with-snarkjs";
import { assert } from "chai";
import { groth16 } from "snarkjs";
import {
  type CircuitFiles,
  type CircuitVerifier,
  createCircuitProver,
  createCircuitVerifier,
  decodeProof,
  encodeProof,
  fastEngine,
  type Proof,
  type ProofPoints,
  type ProvingEngine,
  parseVerificationKey,
} from "../src/index.ts";
import { BASE_FIELD_ORDER as q, SCALAR_FIELD_ORDER as r } from "../src/proof/orders.ts";
import { toyFiles } from "./support/toy-files.ts";

describe("proving and verifying", function () {
  slow(this, "a circuit is compiled, and proofs made");
  let files: CircuitFiles;
  let vkey: Record<string, unknown>;
  let verifier: CircuitVerifier;
  let proof: Proof;

  before(async () => {
    const build = await buildToy(import.meta.dirname);
    files = toyFiles(build, parseVerificationKey);
    vkey = JSON.parse(readFileSync(join(build, "toy", "toy.vkey.json"), "utf8"));
    verifier = createCircuitVerifier(parseVerificationKey(vkey));
    proof = await createCircuitProver(files).prove(TOY_INPUT);
  });

  it("proves in the wire's order, and snarkjs verifies", async () => {
    assert.deepEqual(proof.publicSignals, TOY_SIGNALS);
    assert.isTrue(await verifier.verify(proof.proof, proof.publicSignals));
    assert.isTrue(
      await withSnarkjs(() => groth16.verify(vkey, proof.publicSignals, snarkjsProof(proof.proof) as never)),
    );
  });

  it("warms up by verifying one invalid proof", async () => {
    const verified: [ProofPoints, readonly bigint[], boolean][] = [];
    const { prove, verify } = fastEngine();
    const engine: ProvingEngine = {
      name: "watched",
      prove,
      async verify(key, points, signals) {
        const holds = await verify(key, points, signals);
        verified.push([points, signals, holds]);
        return holds;
      },
    };
    const cold = createCircuitVerifier(parseVerificationKey(vkey), engine);
    await cold.warm();
    const [[points, signals, holds]] = verified as [(typeof verified)[number]];
    assert.deepEqual([verified.length, signals.length, holds], [1, TOY_SIGNALS.length, false]);
    // The points of the warm-up proof decode, so its verification includes the pairing.
    assert.deepEqual(decodeProof(encodeProof(points)), points);
    assert.isTrue(await cold.verify(proof.proof, proof.publicSignals));
  });

  it("fails if the signal at any position differs", async () => {
    for (const index of TOY_SIGNALS.keys()) {
      for (const other of ["0", "43", String(r - 1n)]) {
        assert.isFalse(await verifier.verify(proof.proof, TOY_SIGNALS.with(index, other)));
      }
    }
  });

  it("fails for the proof of another statement, and for parts of two proofs", async () => {
    const other = await createCircuitProver(files).prove({ ...TOY_INPUT, label: 43n });
    assert.isTrue(await verifier.verify(other.proof, ["210", "43"]));
    assert.isFalse(await verifier.verify(other.proof, TOY_SIGNALS));
    assert.isFalse(await verifier.verify(proof.proof, ["210", "43"]));
    const mixed = [...proof.proof.slice(0, 6), ...other.proof.slice(6)];
    assert.isFalse(await verifier.verify(mixed, TOY_SIGNALS));
  });

  it("fails for swapped A and C, and for a negated point", async () => {
    const [ax, ay, ...rest] = proof.proof as [string, string, ...string[]];
    const [cx, cy] = rest.slice(4) as [string, string];
    assert.isFalse(await verifier.verify([cx, cy, ...rest.slice(0, 4), ax, ay], TOY_SIGNALS));
    assert.isFalse(await verifier.verify([ax, String(q - BigInt(ay)), ...rest], TOY_SIGNALS));
  });

  it("accepts a rerandomized proof, so a proof's bytes do not identify a payment", async () => {
    const { G1, G2 } = bn254;
    const [ax, ay, bx0, bx1, by0, by1, ...c] = proof.proof.map(BigInt) as [
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
    ];
    const a = G1.Point.fromAffine({ x: ax, y: ay }).multiply(7n).toAffine();
    const { Fp2, Fr } = bn254.fields;
    const b = G2.Point.fromAffine({ x: Fp2.fromBigTuple([bx0, bx1]), y: Fp2.fromBigTuple([by0, by1]) })
      .multiply(Fr.inv(7n))
      .toAffine();
    const words = [a.x, a.y, b.x.c0, b.x.c1, b.y.c0, b.y.c1, ...c].map(String);
    assert.notDeepEqual(words, proof.proof);
    assert.isTrue(await verifier.verify(words, TOY_SIGNALS));
  });

  it("rejects aliases that common verifiers accept: x + q, s + r", async () => {
    for (const index of proof.proof.keys()) {
      const alias = proof.proof.with(index, String(BigInt(proof.proof[index] ?? 0) + q));
      await expectRejected("PROOF_COORDINATE_RANGE", () => verifier.verify(alias, TOY_SIGNALS));
    }
    const signals = TOY_SIGNALS.with(1, String(42n + r));
    await expectRejected("SIGNAL_RANGE", () => verifier.verify(proof.proof, signals));
  });

  it("rejects B outside the subgroup, and points off the curve", async () => {
    const { x, y } = twistPoint();
    const outside = [...proof.proof.slice(0, 2), ...[...x, ...y].map(String), ...proof.proof.slice(6)];
    await expectRejected("PROOF_NOT_IN_SUBGROUP", () => verifier.verify(outside, TOY_SIGNALS));
    await expectRejected("PROOF_NOT_ON_CURVE", () => verifier.verify(proof.proof.with(0, "1"), TOY_SIGNALS));
  });

  it("rejects wrong numbers of words or signals", async () => {
    await expectRejected("SIGNALS_MALFORMED", () => verifier.verify(proof.proof, ["210"]));
    await expectRejected("SIGNALS_MALFORMED", () => verifier.verify(proof.proof, ["210", "42", "0"]));
    await expectRejected("PROOF_MALFORMED", () => verifier.verify(proof.proof.slice(1), TOY_SIGNALS));
  });

  it("does not prove a false statement", async () => {
    await expectRejected("WITNESS_REFUSED", () => createCircuitProver(files).prove({ ...TOY_INPUT, product: 1n }));
  });

  it("never returns a proof that fails its own verification", async () => {
    const engine = fastEngine();
    const faulty = {
      ...engine,
      prove: async (zkey: Uint8Array, witness: Uint8Array) => {
        const good = await engine.prove(zkey, witness);
        return { ...good, a: good.c };
      },
    };
    await expectRejected("PROOF_SELF_CHECK_FAILED", () =>
      createCircuitProver(files, { engine: faulty }).prove(TOY_INPUT),
    );
    const unchecked = createCircuitProver(files, { engine: faulty, selfCheck: false });
    assert.isFalse(await verifier.verify((await unchecked.prove(TOY_INPUT)).proof, TOY_SIGNALS));
  });

  it("reports a refused input while the proving key is still read", async () => {
    const prover = createCircuitProver({ ...files, zkey: () => new Promise(() => undefined) });
    await expectRejected("INPUT_INVALID", () => prover.prove({ ...TOY_INPUT, secret: -1n }));
    await expectRejected("WITNESS_REFUSED", () => prover.prove({ ...TOY_INPUT, product: 211n }));
  });

  it("computes the witness while the proving key is read, but not after an abort, and wipes it", async () => {
    const arrival = () => {
      let arrive = (): void => undefined;
      const promise = new Promise<void>((resolve) => {
        arrive = resolve;
      });
      return { promise, arrive };
    };
    const [wasm, zkey] = [arrival(), arrival()];
    const delayed: CircuitFiles = {
      ...files,
      wasm: () => wasm.promise.then(files.wasm),
      zkey: () => zkey.promise.then(files.zkey),
    };
    let reads = 0;
    const watched = Object.defineProperty({ ...TOY_INPUT }, "secret", {
      enumerable: true,
      get: () => {
        reads += 1;
        return TOY_INPUT.secret;
      },
    });
    const controller = new AbortController();
    const aborted = createCircuitProver(delayed).prove(watched, { signal: controller.signal });
    controller.abort();
    await expectRejected("ABORTED", () => aborted);
    const witnesses: Uint8Array[] = [];
    const engine: ProvingEngine = {
      ...fastEngine({ singleThread: true }),
      prove: async (_, witness) => {
        witnesses.push(witness);
        assert.isTrue(witness.some((byte) => byte !== 0));
        throw new Error("no proof");
      },
    };
    const proving = createCircuitProver(delayed, { engine }).prove(watched);
    proving.catch(() => undefined);
    wasm.arrive();
    await eventually(async () => reads > 0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(reads, 1, "the second proof's witness only, although there is no proving key yet");
    zkey.arrive();
    const failure = await proving.catch((error: unknown) => error);
    assert.equal((failure as Error).message, "no proof");
    await new Promise((resolve) => setImmediate(resolve));
    assert.isTrue(witnesses[0]?.every((byte) => byte === 0));
  });

  it("reports stages in order and stops between them when aborted", async () => {
    const stages: string[] = [];
    const onProgress = (stage: string): number => stages.push(stage);
    await createCircuitProver(files).prove(TOY_INPUT, { onProgress });
    assert.deepEqual(stages, ["artifacts", "witness", "proof", "check", "done"]);
    for (const [index, last] of ["artifacts", "witness", "proof", "check"].entries()) {
      const seen: string[] = [];
      const controller = new AbortController();
      const error = await expectRejected("ABORTED", () =>
        createCircuitProver(files).prove(TOY_INPUT, {
          signal: controller.signal,
          onProgress: (stage) => {
            seen.push(stage);
            if (stage === last) controller.abort(new Error("enough"));
          },
        }),
      );
      assert.deepEqual(seen, stages.slice(0, index + 1));
      assert.equal((error.cause as Error).message, "enough");
    }
  });

  it("reads each file once until it is closed, and reads again what failed", async () => {
    const reads: string[] = [];
    let fails = true;
    const counted: CircuitFiles = {
      name: "toy",
      async wasm() {
        reads.push("wasm");
        return files.wasm();
      },
      async zkey() {
        reads.push("zkey");
        if (fails) throw new Error("no file");
        return files.zkey();
      },
      async verificationKey() {
        reads.push("vkey");
        return files.verificationKey();
      },
    };
    const prover = createCircuitProver(counted);
    const failure = await prover.prove(TOY_INPUT).catch((error: unknown) => error);
    assert.equal((failure as Error).message, "no file");
    fails = false;
    for (const _ of [1, 2]) assert.deepEqual((await prover.prove(TOY_INPUT)).publicSignals, TOY_SIGNALS);
    assert.deepEqual(reads.toSorted(), ["vkey", "wasm", "zkey", "zkey"]);
    prover.close();
    await prover.prove(TOY_INPUT);
    assert.deepEqual(reads.toSorted(), ["vkey", "vkey", "wasm", "wasm", "zkey", "zkey", "zkey"]);
  });

  it("rejects malformed verification keys", async () => {
    const offCurve = { ...vkey, vk_alpha_1: ["1", "1", "1"] };
    const { x, y } = twistPoint();
    const outside = { ...vkey, vk_delta_2: [x.map(String), y.map(String), ["1", "0"]] };
    const short = { ...vkey, IC: (vkey["IC"] as unknown[]).slice(1) };
    const infinity = { ...vkey, vk_alpha_1: ["0", "1", "0"] };
    const alias = { ...vkey, vk_alpha_1: (vkey["vk_alpha_1"] as string[]).with(0, String(q + 1n)) };
    const wrongs = [
      offCurve,
      outside,
      short,
      infinity,
      alias,
      { ...vkey, protocol: "plonk" },
      { ...vkey, curve: "bls12381" },
    ];
    for (const wrong of [...wrongs, null, 7, [], "{", "null"]) {
      await expectRejected("VERIFICATION_KEY_INVALID", () => parseVerificationKey(wrong));
    }
    assert.deepEqual(parseVerificationKey(JSON.stringify(vkey)), parseVerificationKey(vkey));
  });
});
