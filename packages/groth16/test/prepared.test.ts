import { randomBelow } from "@sotto/test-kit/random-below";
import { expectRejected } from "@sotto/test-kit/rejection";
import { slow } from "@sotto/test-kit/slow";
import { snarkjsProof } from "@sotto/test-kit/snarkjs-proof";
import { buildToy, TOY_INPUT, TOY_SIGNALS } from "@sotto/test-kit/toy";
import { withSnarkjs } from "@sotto/test-kit/with-snarkjs";
import { assert } from "chai";
import { type Curve, type Point, sharedCurve } from "../src/curve.ts";
import { proofOf } from "../src/fast/prove.ts";
import { parseZkey } from "../src/fast/zkey.ts";
import {
  type CircuitFiles,
  type CircuitProver,
  type CircuitVerifier,
  createCircuitProver,
  createCircuitVerifier,
  encodeProof,
  fastEngine,
  type ProofPoints,
  type ProvingEngine,
  parseVerificationKey,
  type VerificationKey,
} from "../src/index.ts";
import { type FreeConstants, freeConstants } from "../src/prepared/constants.ts";
import { findFreeSignal } from "../src/prepared/free-signal.ts";
import { createPreparedProof } from "../src/prepared/prepared-proof.ts";
import { type Blinding, finishState, prepareState, type State } from "../src/prepared/state.ts";
import { SCALAR_FIELD_ORDER } from "../src/proof/orders.ts";
import { createWitnessCalculator, type WitnessCalculator } from "../src/witness/calculator.ts";
import { toyFiles } from "./support/toy-files.ts";

/** The toy's public signal that occurs only in its own square. */
const FREE = "label";
const POSITION = 1;
const SIGNALS = TOY_SIGNALS.map(BigInt);
const UNBLINDED: Blinding = { r: 0n, s: 0n };
const VALUES = process.env["SOTTO_LONG"] === "1" ? 98 : 5;

describe("prepared proofs", function () {
  slow(this, "proofs are made");
  const engine = fastEngine() as Required<ProvingEngine>;
  let files: CircuitFiles;
  let zkey: Uint8Array;
  let key: VerificationKey;
  let verifier: CircuitVerifier;
  let prover: CircuitProver;
  let curve: Curve;
  let calculator: WitnessCalculator;
  let constants: FreeConstants;
  let makeState: () => Promise<State>;

  before(async () => {
    files = toyFiles(await buildToy(import.meta.dirname), parseVerificationKey);
    prover = createCircuitProver(files, { engine });
    curve = await sharedCurve();
    const wasm = await files.wasm();
    [zkey, key] = await Promise.all([files.zkey(), files.verificationKey()]);
    verifier = createCircuitVerifier(key);
    calculator = await createWitnessCalculator("toy", wasm);
    const witness = await calculator.calculate({ ...TOY_INPUT, [FREE]: 0n });
    const other = await calculator.calculate({ ...TOY_INPUT, [FREE]: 3n });
    const signal = findFreeSignal("toy", FREE, witness, other, key.nPublic);
    constants = await freeConstants("toy", engine, zkey, key, signal);
    makeState = () => prepareState(engine, zkey, constants, witness);
  });

  const signalsWith = (value: bigint): string[] => TOY_SIGNALS.with(POSITION, String(value));
  const accepts = (points: ProofPoints, value: bigint): Promise<boolean> =>
    verifier.verify(encodeProof(points), signalsWith(value));

  it("verify for every value of the free signal, and for no other", async () => {
    const values = [
      1n,
      SCALAR_FIELD_ORDER - 1n,
      ...Array.from({ length: VALUES }, () => randomBelow(SCALAR_FIELD_ORDER)),
    ];
    for (const value of values) {
      const prepared = await prover.prepare(TOY_INPUT, FREE);
      assert.deepEqual(prepared.publicSignals, signalsWith(0n));
      const made = await prepared.finish(value);
      assert.deepEqual(made.publicSignals, signalsWith(value));
      assert.isTrue(await verifier.verify(made.proof, made.publicSignals), String(value));
      for (const other of [0n, (value + 1n) % SCALAR_FIELD_ORDER, SCALAR_FIELD_ORDER - value])
        if (other !== value) assert.isFalse(await verifier.verify(made.proof, signalsWith(other)));
    }
  });

  it("verify if one thread prepares them", async () => {
    const single = createCircuitProver(files, { engine: fastEngine({ singleThread: true }) });
    const { proof, publicSignals } = await (await single.prepare(TOY_INPUT, FREE)).finish(77n);
    assert.deepEqual(publicSignals, signalsWith(77n));
    assert.isTrue(await verifier.verify(proof, publicSignals));
    assert.isFalse(await verifier.verify(proof, TOY_SIGNALS));
  });

  it("are accepted by snarkjs's verifier", async () => {
    const { groth16 } = await import("snarkjs");
    const { proof, publicSignals: signals } = await (await prover.prepare(TOY_INPUT, FREE)).finish(5n);
    const isAccepted = (own: readonly string[]) =>
      withSnarkjs(() => groth16.verify(key as never, own as never, snarkjsProof(proof) as never));
    assert.isTrue(await isAccepted(signals));
    assert.isFalse(await isAccepted(signals.with(POSITION, "6")));
  });

  describe("two proofs of one state", () => {
    /** The attack: combines two proofs as if they were of one state and only the values differed. */
    const forge = (first: ProofPoints, d1: bigint, second: ProofPoints, d2: bigint, value: bigint): ProofPoints => {
      const { G1, G2 } = curve;
      const { u, v, square } = constants;
      const mod = (x: bigint): bigint => ((x % SCALAR_FIELD_ORDER) + SCALAR_FIELD_ORDER) % SCALAR_FIELD_ORDER;
      const plus = (point: Point, base: Point, scalar: bigint): Point => G1.add(point, G1.multiply(base, mod(scalar)));
      const [c1, c2] = [G1.fromCoordinates(first.c), G1.fromCoordinates(second.c)];
      const difference = plus(G1.add(c1, G1.negate(c2)), square, d2 * d2 - d1 * d1);
      const slope = G1.multiply(difference, inverse(mod(d1 - d2)));
      const a = plus(G1.fromCoordinates(first.a), u, value - d1);
      const b = G2.add(G2.fromCoordinates(first.b.flat()), G2.multiply(v, mod(value - d1)));
      const c = plus(plus(c1, slope, value - d1), square, value * value - d1 * d1);
      return proofOf(curve, a, b, c);
    };
    const [d1, d2, d3] = [
      randomBelow(SCALAR_FIELD_ORDER),
      randomBelow(SCALAR_FIELD_ORDER),
      randomBelow(SCALAR_FIELD_ORDER),
    ];

    it("give a third proof to anyone if they are not blinded again (control of the next test)", async () => {
      const state = await makeState();
      const [first, second] = [
        finishState(constants, state, d1, UNBLINDED),
        finishState(constants, state, d2, UNBLINDED),
      ];
      assert.isTrue(await accepts(first, d1));
      assert.isTrue(await accepts(second, d2));
      assert.isTrue(await accepts(forge(first, d1, second, d2, d3), d3));
    });

    it("do not give a third proof if each is blinded freshly", async () => {
      const state = await makeState();
      const [first, second] = [finishState(constants, state, d1), finishState(constants, state, d2)];
      assert.isTrue(await accepts(first, d1));
      assert.isTrue(await accepts(second, d2));
      assert.isFalse(await accepts(forge(first, d1, second, d2, d3), d3));
    });

    it("share no point, even for one value", async () => {
      const state = await makeState();
      const [first, second] = [
        encodeProof(finishState(constants, state, d1)),
        encodeProof(finishState(constants, state, d1)),
      ];
      for (const [index, word] of first.entries()) assert.notEqual(word, second[index]);
    });
  });

  it("finish once, and wipe their state", async () => {
    const state = await makeState();
    const prepared = createPreparedProof("toy", constants, state, SIGNALS, 60_000);
    const [first, second] = await Promise.allSettled([prepared.finish(5n), prepared.finish(6n)]);
    assert.equal(first.status, "fulfilled");
    assert.equal(second.status, "rejected");
    assertWiped(state);
    await expectRejected("PREPARED_PROOF_GONE", () => prepared.finish(7n));
  });

  it("are wiped when they are discarded, and after their idle time", async () => {
    const [state, idle] = [await makeState(), await makeState()];
    const prepared = createPreparedProof("toy", constants, state, SIGNALS, 60_000);
    prepared.discard();
    prepared.discard();
    assertWiped(state);
    await expectRejected("PREPARED_PROOF_GONE", () => prepared.finish(5n));
    const late = createPreparedProof("toy", constants, idle, SIGNALS, 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assertWiped(idle);
    await expectRejected("PREPARED_PROOF_GONE", () => late.finish(5n));
  });

  it("are not finished after their idle time even if no timer ran, as in a machine that slept", async () => {
    const state = await makeState();
    const prepared = createPreparedProof("toy", constants, state, SIGNALS, 60_000);
    const { now } = Date;
    Date.now = () => now() + 60_000;
    try {
      await expectRejected("PREPARED_PROOF_GONE", () => prepared.finish(5n));
    } finally {
      Date.now = now;
    }
    assertWiped(state);
  });

  it("refuse a value that is not a field element, and stay usable", async () => {
    const prepared = createPreparedProof("toy", constants, await makeState(), SIGNALS, 60_000);
    for (const wrong of [-1n, SCALAR_FIELD_ORDER, "5", 5]) {
      await expectRejected("INPUT_INVALID", () => prepared.finish(wrong as bigint));
    }
    assert.lengthOf((await prepared.finish(5n)).proof, 8);
  });

  it("need a signal of which only its square depends", () => {
    const find = (zero: Uint8Array, three: Uint8Array) => () => findFreeSignal("toy", "signal", zero, three, 2);
    const zero = witnessOf(1, 0, 5, 0, 7);
    assert.deepEqual(find(zero, witnessOf(1, 3, 5, 9, 7))(), { wire: 1, square: 3 });
    for (const three of [
      witnessOf(1, 3, 5, 0, 7),
      witnessOf(1, 3, 5, 9, 8),
      witnessOf(1, 3, 9, 0, 7),
      witnessOf(1, 3, 5, 6, 7),
      witnessOf(1, 0, 5, 3, 9),
      witnessOf(1, 6, 5, 9, 7),
    ]) {
      try {
        find(zero, three)();
      } catch (error) {
        assert.equal((error as { code: string }).code, "SIGNAL_NOT_FREE");
        continue;
      }
      assert.fail("accepted a signal that is not free");
    }
  });

  it("are refused if the key's points do not fit the wires that the witnesses showed", async () => {
    const { wire, square } = constants.signal;
    for (const signal of [
      { wire: wire - 1, square },
      { wire, square: square - 1 },
    ])
      await expectRejected("SIGNAL_NOT_FREE", () => freeConstants("toy", engine, zkey, key, signal));
  });

  it("are checked when they are made: no error in any sum is kept", async () => {
    // Call 1 is for the constants, call 2 for the proof, call 3 for the slope.
    for (const [faulty, part, code] of [
      [1, "h", "SIGNAL_NOT_FREE"],
      [2, "a", "PROOF_SELF_CHECK_FAILED"],
      [2, "c", "PROOF_SELF_CHECK_FAILED"],
      [2, "b1", "PROOF_SELF_CHECK_FAILED"],
      [3, "h", "PROOF_SELF_CHECK_FAILED"],
    ] as const) {
      let call = 0;
      const broken: ProvingEngine = {
        ...engine,
        async sums(zkey, witness, parts) {
          const sums = await engine.sums(zkey, witness, parts);
          call += 1;
          return call === faulty ? { ...sums, [part]: curve.G1.add(sums[part] as Point, constants.u) } : sums;
        },
      };
      await expectRejected(code, () => createCircuitProver(files, { engine: broken }).prepare(TOY_INPUT, FREE));
    }
  });

  it("are refused if a point of the state is infinity, for which no pairing is defined", async () => {
    const { G1, G2 } = curve;
    const witness = await calculator.calculate({ ...TOY_INPUT, [FREE]: 0n });
    let h = G1.zero;
    /** Sums that cancel what is added to them, except for the blinding. */
    const cancelling: Required<Pick<ProvingEngine, "sums">> = {
      async sums(_key, _witness, parts) {
        const sums = await engine.sums(zkey, witness, [...parts]);
        const isFirst = parts.length > 1;
        h = isFirst ? (sums.h as Point) : h;
        if (!isFirst) return { h: G1.add(h, constants.unitQuotient) };
        const [a, b1] = [constants.alpha1, constants.beta1].map(G1.negate) as [Point, Point];
        return { ...sums, a, b1, b2: G2.negate(constants.beta2) };
      },
    };
    const make = (changes: Partial<FreeConstants>) =>
      prepareState(cancelling, zkey, { ...constants, ...changes }, witness);
    for (const changes of [{ delta1: G1.zero }, { delta2: G2.zero }, { u: G1.zero, v1: G1.zero }])
      await expectRejected("ENGINE_FAILED", () => make(changes));
    const blinded = await make({});
    for (const point of [blinded.a, blinded.b1, blinded.slope]) assert.isFalse(G1.isZero(point));
    assert.isFalse(G2.isZero(blinded.b));
  });

  it("are refused if the key has no base for the signal", async () => {
    const changed = new Uint8Array(zkey);
    const { signal } = constants;
    const parts = parseZkey(changed);
    const inC = curve.G1.fromFile(parts.c.subarray(64 * (signal.square - parts.publicSignals - 1)).subarray(0, 64));
    // Both pairs of the check then contain infinity.
    parts.a.subarray(64 * signal.wire, 64 * (signal.wire + 1)).fill(0);
    const sums = async () => ({ h: curve.G1.negate(inC) });
    await expectRejected("SIGNAL_NOT_FREE", () => freeConstants("toy", { sums }, changed, key, signal));
  });

  it("stop between stages when the caller aborts", async () => {
    for (const last of ["artifacts", "witness", "proof", "check"]) {
      const controller = new AbortController();
      const onProgress = (stage: string): void => {
        if (stage === last) controller.abort();
      };
      const options = { signal: controller.signal, onProgress };
      await expectRejected("ABORTED", () => prover.prepare(TOY_INPUT, FREE, options));
    }
  });

  it("are refused for signals that are not free, and for engines that cannot prepare", async () => {
    // A product of 0 contradicts the factors, so there is no witness.
    await expectRejected("WITNESS_REFUSED", () => prover.prepare(TOY_INPUT, "product"));
    await expectRejected("INPUT_INVALID", () => prover.prepare(TOY_INPUT, "Label"));
    const { sums: _, ...without } = fastEngine();
    const other = createCircuitProver(files, { engine: without });
    await expectRejected("PREPARE_UNSUPPORTED", () => other.prepare(TOY_INPUT, FREE));
    for (const idleMs of [0, 1.5, 900_001])
      await expectRejected("INPUT_INVALID", () => prover.prepare(TOY_INPUT, FREE, { idleMs }));
  });
});

/** A witness of 32-byte elements. */
function witnessOf(...elements: number[]): Uint8Array {
  const witness = new Uint8Array(32 * elements.length);
  for (const [index, element] of elements.entries()) witness[32 * index] = element;
  return witness;
}

function inverse(value: bigint): bigint {
  let [result, base] = [1n, value];
  for (let exponent = SCALAR_FIELD_ORDER - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = (result * base) % SCALAR_FIELD_ORDER;
    base = (base * base) % SCALAR_FIELD_ORDER;
  }
  return result;
}

function assertWiped({ a, b, b1, c, slope, tables }: State): void {
  for (const point of [a, b, b1, c, slope]) assert.isTrue(point.every((byte) => byte === 0));
  for (const table of Object.values(tables))
    assert.isTrue(table.addMultiple(a.slice(), 1n).every((byte) => byte === 0));
}
