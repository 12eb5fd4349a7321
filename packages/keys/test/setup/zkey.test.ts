import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { groth16, powersOfTau, type ZKArtifact, zKey } from "snarkjs";
import { sha256File, toJson } from "../../src/circuits/files.ts";
import { KeyMaker } from "../../src/setup/development-keys.ts";
import { CONTRIBUTION_NAME } from "../../src/setup/keys/contribution.ts";
import { makePtau } from "../../src/setup/keys/ptau.ts";
import { readR1cs } from "../../src/setup/keys/r1cs.ts";
import { deltaBeacon, phase1Secrets } from "../../src/setup/keys/secrets.ts";
import { stopSnarkjs } from "../../src/verifiers/stop-snarkjs.ts";
import { compileToy, type Toy, toyInput } from "./support/toy.ts";

/** The exponent of the beacon's iterations; a development key uses the minimum that snarkjs accepts. */
const ITERATIONS = 10;

describe("development key of a small circuit", function () {
  slow(this, "keys, circuits and ceremonies are made");
  let toy: Toy;
  let ptau: string;
  let maker: KeyMaker;

  before(async () => {
    toy = await compileToy();
    maker = await KeyMaker.start();
    await maker.make("toy", toy.folder);
    ptau = join(toy.folder, "known.ptau");
    const { logDomain } = readR1cs(toy.paths.r1cs);
    writeFileSync(ptau, Buffer.concat(await makePtau(phase1Secrets(), logDomain + 1, maker.pool)));
  });
  after(async () => {
    await maker.stop();
    await stopSnarkjs();
    toy.remove();
  });

  /** Verifies from memory, because snarkjs does not close the files of a key that it rejects. */
  const snarkjsVerifies = (key: Buffer): Promise<boolean> =>
    zKey.verifyFromR1cs(readFileSync(toy.paths.r1cs), readFileSync(ptau), key);

  it("is checked with powers of tau that are byte-identical to snarkjs's", async () => {
    const ours = Buffer.concat(await makePtau(phase1Secrets("any"), 5, maker.pool));
    const theirs: { type: "mem"; data?: Uint8Array } = { type: "mem" };
    await powersOfTau.preparePhase2(ours, theirs);
    expect(ours.equals(theirs.data ?? ours.subarray(1))).to.equal(true);
  });

  it("equals snarkjs's key from the same powers of tau and beacon, byte for byte", async () => {
    const [initial, final] = ["initial.zkey", "final.zkey"].map((file) => join(toy.folder, file)) as [string, string];
    await zKey.newZKey(toy.paths.r1cs, ptau, initial);
    const beacon = Buffer.from(deltaBeacon("toy")).toString("hex");
    await zKey.beacon(initial, final, CONTRIBUTION_NAME, beacon, ITERATIONS);
    expect(readFileSync(final).equals(readFileSync(toy.paths.zkey))).to.equal(true);
  });

  it("has the verification key that snarkjs exports", async () => {
    const exported = await zKey.exportVerificationKey(toy.paths.zkey);
    expect(readFileSync(toy.paths.vkey, "utf8")).to.equal(toJson(exported));
  });

  it("passes snarkjs zkey verify", async () => {
    expect(await snarkjsVerifies(readFileSync(toy.paths.zkey))).to.equal(true);
  });

  for (const [section, name] of [
    [3, "IC"],
    [4, "coefficients"],
    [5, "A"],
    [7, "B2"],
    [8, "C"],
    [9, "H"],
  ] as const)
    it(`fails snarkjs zkey verify with two elements of section ${name} swapped`, async () => {
      expect(await snarkjsVerifies(exchangeElements(readFileSync(toy.paths.zkey), section))).to.equal(false);
    });

  it("lets snarkjs prove and verify, and rejects other proofs", async () => {
    const { proof, publicSignals } = await groth16.fullProve(toyInput, toy.paths.wasm, toy.paths.zkey as ZKArtifact);
    const key: unknown = JSON.parse(readFileSync(toy.paths.vkey, "utf8"));
    expect(publicSignals).to.have.length(3);
    expect(await groth16.verify(key, publicSignals, proof)).to.equal(true);
    for (const index of publicSignals.keys()) {
      const other = publicSignals.map((signal, at) => (at === index ? String(BigInt(signal) + 1n) : signal));
      expect(await groth16.verify(key, other, proof), `signal ${index}`).to.equal(false);
    }
  });

  it("is reproducible, and differs for another seed", async () => {
    const files = [toy.paths.zkey, toy.paths.vkey, toy.paths.trapdoor];
    const first = files.map(sha256File);
    const again = await KeyMaker.start();
    try {
      await again.make("toy", toy.folder);
      expect(files.map(sha256File)).to.deep.equal(first);
      await again.make("toy", toy.folder, "another seed");
      for (const [index, file] of files.entries()) expect(sha256File(file)).to.not.equal(first[index]);
      await again.make("toy", toy.folder);
    } finally {
      await again.stop();
    }
  });
});

/** Swaps the first two different elements of a section; its elements have 64 bytes each. */
function exchangeElements(file: Buffer, section: number): Buffer {
  const damaged = Buffer.from(file);
  for (let position = 12; position < file.length; position += 12 + Number(file.readBigUInt64LE(position + 4))) {
    if (file.readUInt32LE(position) !== section) continue;
    const start = position + 12;
    file.copy(damaged, start, start + 64, start + 128);
    file.copy(damaged, start + 64, start, start + 64);
  }
  if (damaged.equals(file)) throw new Error(`section ${section} was not changed`);
  return damaged;
}
