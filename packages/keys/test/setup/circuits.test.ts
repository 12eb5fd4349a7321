import { readFileSync } from "node:fs";
import { deriveKeys, prepareRange } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { snarkjsProof } from "@sotto/test-kit/snarkjs-proof";
import { expect } from "chai";
import { groth16, zKey } from "snarkjs";
import { sha256 } from "../../src/circuits/files.ts";
import { artifactPaths, circuitNames } from "../../src/circuits/paths.ts";
import { KeyMaker } from "../../src/setup/development-keys.ts";
import { makePtau } from "../../src/setup/keys/ptau.ts";
import { readR1cs } from "../../src/setup/keys/r1cs.ts";
import { phase1Secrets } from "../../src/setup/keys/secrets.ts";
import { readLock } from "../../src/setup/lock.ts";
import { proveWithTrapdoor } from "../../src/setup/trapdoor.ts";
import { stopSnarkjs } from "../../src/verifiers/stop-snarkjs.ts";

const LONG = process.env["SOTTO_LONG"] === "1";

const vkeyOf = (name: string): unknown => JSON.parse(readFileSync(artifactPaths(name).vkey, "utf8"));

describe("development keys of the circuits", function () {
  slow(this, "keys, circuits and ceremonies are made");
  let maker: KeyMaker;
  before(async () => {
    maker = await KeyMaker.start();
  });
  after(async () => {
    await maker.stop();
    await stopSnarkjs();
  });

  it("let snarkjs prove and verify an amount proof", async () => {
    const { wasm, zkey } = artifactPaths("elgamal_range");
    const keys = deriveKeys(new Uint8Array(32).fill(7), { chainId: 31337n, pool: `0x${"5a".repeat(20)}` });
    const recipient = { encryptionKey: keys.encryptionKey, ownerTag: keys.ownerTag(0) };
    const statement = prepareRange({ recipient, amount: 105n, scalar: 123n, lowerBound: 100n, upperBound: 110n });
    const { proof, publicSignals } = await groth16.fullProve({ ...statement.input } as never, wasm, zkey);
    expect(publicSignals).to.deep.equal(statement.publicSignals.map(String));
    expect(await groth16.verify(vkeyOf("elgamal_range"), publicSignals, proof)).to.equal(true);
    const lower = publicSignals.with(4, "106");
    expect(await groth16.verify(vkeyOf("elgamal_range"), lower, proof)).to.equal(false);
  });

  // Takes long, so short runs rely on zkey.test.ts, which has snarkjs verify the key of a small circuit.
  for (const name of LONG ? circuitNames : [])
    it(`pass snarkjs zkey verify (${name})`, async () => {
      const { r1cs, zkey } = artifactPaths(name);
      const ptau = await makePtau(phase1Secrets(), readR1cs(r1cs).logDomain + 1, maker.pool);
      expect(await zKey.verifyFromR1cs(readFileSync(r1cs), Buffer.concat(ptau), readFileSync(zkey))).to.equal(true);
    });

  it("are reproducible and match the lock", async () => {
    const { zkey } = await maker.key("elgamal_range", artifactPaths("elgamal_range").folder);
    const pinned = readLock().circuits.elgamal_range;
    expect(sha256(...zkey)).to.equal(pinned?.zkey);
  });

  it("share alpha, beta and gamma, so that proofs of different circuits can be batched; each has its own delta", () => {
    const keys = circuitNames.map((name) => vkeyOf(name) as Record<string, unknown>);
    for (const part of ["vk_alpha_1", "vk_beta_2", "vk_gamma_2"])
      for (const key of keys) expect(key[part]).to.deep.equal(keys[0]?.[part]);
    expect(new Set(keys.map((key) => JSON.stringify(key["vk_delta_2"]))).size).to.equal(keys.length);
  });

  for (const name of circuitNames)
    it(`let anyone with the seed prove false statements (${name})`, async () => {
      const key = vkeyOf(name) as { nPublic: number };
      const signals = Array.from({ length: key.nPublic }, (_, index) => BigInt(index) ** 40n);
      const forged = proveWithTrapdoor(name, signals);
      expect(await groth16.verify(key, forged.publicSignals, snarkjsProof(forged.proof))).to.equal(true);
      const other = forged.publicSignals.with(-1, String(signals.at(-1)! + 1n));
      expect(await groth16.verify(key, other, snarkjsProof(forged.proof))).to.equal(false);
      expect(proveWithTrapdoor(name, signals).proof).to.not.deep.equal(forged.proof);
    });
});
