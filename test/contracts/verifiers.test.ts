import { readFileSync } from "node:fs";
import { bn254 } from "@noble/curves/bn254.js";
import { artifactPaths } from "@sotto/keys/circuits/paths";
import { proveWithTrapdoor } from "@sotto/keys/setup/trapdoor";
import { slow } from "@sotto/test-kit/slow";
import { type Connection, connect, poolArguments } from "@sotto/test-pool/hardhat/deploy";
import { expect } from "chai";
import { artifacts } from "hardhat";

const P = 21888242871839275222246405745257275088548364400416034343698204186575808495617n;
const Q = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;

/** Gas by EIP-1108 for a multiplication and an addition, and for a check of four pairings. */
const GAS_SIGNAL = 6_150n;
const GAS_PAIRINGS = 45_000n + 4n * 34_000n;

const VERIFIERS = [
  ["payment", "Payment"],
  ["withdrawal", "Withdrawal"],
  ["note_append", "NoteAppend"],
] as const;

interface VerificationKey {
  nPublic: number;
  vk_alpha_1: string[];
  vk_beta_2: string[][];
  vk_gamma_2: string[][];
  vk_delta_2: string[][];
  IC: string[][];
}

/** A point of the twist outside the subgroup of order r. A check of the curve equation alone would accept it. */
function pointOutsideSubgroup(): bigint[] {
  const { Fp2 } = bn254.fields;
  const b = Fp2.div(Fp2.fromBigTuple([3n, 0n]), Fp2.fromBigTuple([9n, 1n]));
  for (let start = 1n; ; start++) {
    const x = Fp2.fromBigTuple([start, 1n]);
    try {
      const y = Fp2.sqrt(Fp2.add(Fp2.mul(Fp2.sqr(x), x), b));
      const point = bn254.G2.Point.fromAffine({ x, y });
      if (!point.isTorsionFree()) return [x.c0, x.c1, y.c0, y.c1];
    } catch {
      // Not a square; try the next x.
    }
  }
}

/** An address without code, as that of a precompile on a chain that lacks it. */
const EMPTY = 0x99;

/** Contract code that calls another address instead of a precompile: PUSH1 address, GAS, STATICCALL. */
function calling(code: string, precompile: number, address: number): string {
  const call = (to: number) => `60${to.toString(16).padStart(2, "0")}5afa`;
  expect(code).to.contain(call(precompile));
  return code.replaceAll(call(precompile), call(address));
}

/** Code that returns a word `times` times: PUSH1 value, PUSH0, MSTORE, PUSH1 value, PUSH1 32, MSTORE, PUSH1 length, PUSH0, RETURN. */
const returning = (value: number, times: number): string => {
  const byte = (number: number) => number.toString(16).padStart(2, "0");
  return `0x60${byte(value)}5f5260${byte(value)}60205260${byte(32 * times)}5ff3`;
};

describe("contracts on a chain without the BN254 precompiles", function () {
  slow(this, "a chain and proofs");
  let connection: Connection;
  const artifactOf = (name: string) => artifacts.readArtifact(name);

  before(async () => {
    connection = await connect();
  });

  /** Puts code at an address and returns the address. */
  async function place(code: string, address: string): Promise<string> {
    await connection.provider.request({ method: "hardhat_setCode", params: [address, code] });
    return address;
  }

  for (const [circuit, template] of VERIFIERS) {
    const name = `${template}Verifier` as "PaymentVerifier";
    const method = `verify${template}` as "verifyPayment";

    it(`${name} rejects every proof, also one whose first word is odd`, async () => {
      const { deployedBytecode } = await artifactOf(name);
      const key = JSON.parse(readFileSync(artifactPaths(circuit).vkey, "utf8")) as VerificationKey;
      const signals = Array.from({ length: key.nPublic }, (_, index) => BigInt(index + 1));
      const proof = proveWithTrapdoor(circuit, signals).proof.map(BigInt);
      const verify = async (code: string, words: readonly bigint[]) => {
        const contract = await connection.ethers.getContractAt(name, await place(code, `0x${"77".repeat(20)}`));
        return contract[method](words as never, signals as never);
      };
      const forged = proof.map((_, index) => BigInt(index + 1));
      const without = calling(deployedBytecode, 8, EMPTY);
      for (const words of [proof, forged, forged.with(0, 1n), forged.with(0, 2n ** 256n - 1n)])
        expect(await verify(without, words)).to.equal(false);
      // Another contract in its place counts only if it returns one word that is 1.
      const other = calling(deployedBytecode, 8, 0x98);
      for (const [value, times, accepted] of [
        [1, 1, true],
        [2, 1, false],
        [3, 1, false],
        [1, 2, false],
        [1, 0, false],
      ] as const) {
        await place(returning(value, times), `0x${"98".padStart(40, "0")}`);
        expect(await verify(other, proof), `${times} times ${value}`).to.equal(accepted);
      }
      expect(await verify(deployedBytecode, proof), "with the precompile (control)").to.equal(true);
      expect(await verify(deployedBytecode, forged)).to.equal(false);
    });
  }

  it("the pool's pairing check does not take an earlier word for the result", async () => {
    const { deployedBytecode } = await artifactOf("PairingCaller");
    const check = async (code: string, pairs: readonly bigint[]) => {
      const contract = await connection.ethers.getContractAt(
        "PairingCaller",
        await place(code, `0x${"66".repeat(20)}`),
      );
      return contract.pairingIsOne([...pairs]);
    };
    expect(await check(calling(deployedBytecode, 8, EMPTY), [])).to.equal(false);
    expect(await check(deployedBytecode, []), "the empty product, with the precompile (control)").to.equal(true);
    expect(await check(deployedBytecode, [1n, 3n, 0n, 0n, 0n, 0n]), "a point off the curve").to.equal(false);
  });

  for (const name of ["PaymentVerifier", "WithdrawalVerifier", "NoteAppendVerifier", "ShieldedPool"])
    it(`${name} is not deployed without one of them, or with another contract in its place`, async () => {
      const { bytecode, abi } = await artifactOf(name);
      const token = await (await connection.ethers.deployContract("TestUSDC")).getAddress();
      const deploy = async (code: string) => {
        const settings = name === "ShieldedPool" ? [...(await poolArguments(connection, token))] : [];
        return (await connection.ethers.getContractFactory(abi, code)).deploy(...settings);
      };
      const factory = await connection.ethers.getContractFactory(abi, bytecode);
      for (const precompile of [6, 7, 8]) {
        const missing = deploy(calling(bytecode, precompile, EMPTY));
        await expect(missing).to.be.revertedWithCustomError(factory, "Bn254PrecompileMissing").withArgs(precompile);
        const address = `0x${"97".padStart(40, "0")}`;
        for (const answer of [returning(0, 1), returning(1, 1), returning(1, 2)]) {
          await place(answer, address);
          const replaced = deploy(calling(bytecode, precompile, 0x97));
          await expect(replaced).to.be.revertedWithCustomError(factory, "Bn254PrecompileMissing").withArgs(precompile);
        }
      }
      expect(await (await deploy(bytecode)).getAddress(), "with all of them (control)").to.match(/^0x/);
    });
});

for (const [circuit, template] of VERIFIERS) {
  const name = `${template}Verifier` as "PaymentVerifier";
  // The verifying function has the circuit's name. All are typed as the payment circuit's.
  const method = `verify${template}` as "verifyPayment";
  describe(`${name}, as exported`, function () {
    slow(this, "a chain, a service and proofs");
    const key = JSON.parse(readFileSync(artifactPaths(circuit).vkey, "utf8")) as VerificationKey;
    const signals = Array.from({ length: key.nPublic }, (_, index) => P - BigInt(index + 1) ** 30n);
    const proof = proveWithTrapdoor(circuit, signals).proof.map(BigInt);
    let connection: Connection;
    let verify: (words: bigint[], values: bigint[]) => Promise<boolean>;

    before(async () => {
      connection = await connect();
      const contract = await connection.ethers.deployContract(name);
      verify = (words, values) => contract[method](words as never, values as never);
    });

    it("accepts a valid proof, and signals 0 and p - 1", async () => {
      expect(await verify(proof, signals)).to.equal(true);
      for (const value of [0n, P - 1n]) {
        const edge = signals.map(() => value);
        expect(await verify(proveWithTrapdoor(circuit, edge).proof.map(BigInt), edge)).to.equal(true);
      }
    });

    it("rejects changed signals and aliases of signals", async () => {
      for (const [index, signal] of signals.entries())
        for (const other of [signal + 1n, signal + P, P, 2n ** 256n - 1n])
          expect(await verify(proof, signals.with(index, other)), `signal ${index} as ${other}`).to.equal(false);
    });

    it("rejects changed coordinates and aliases of coordinates, without reverting", async () => {
      for (const [index, word] of proof.entries())
        for (const other of [word + 1n, word + Q, Q - word, Q, 0n, 2n ** 256n - 1n])
          expect(await verify(proof.with(index, other), signals), `word ${index} as ${other}`).to.equal(false);
    });

    it("rejects a B outside the subgroup, points at infinity, and empty calldata", async () => {
      expect(await verify(proof.toSpliced(2, 4, ...pointOutsideSubgroup()), signals)).to.equal(false);
      for (const [start, length] of [
        [0, 2],
        [2, 4],
        [6, 2],
        [0, 8],
      ] as const)
        expect(await verify(proof.toSpliced(start, length, ...new Array(length).fill(0n)), signals)).to.equal(false);
    });

    it("returns the key that it verifies with, as snarkjs exported it", async () => {
      const contract = await connection.ethers.deployContract(name);
      // In the precompile's order: imaginary part first.
      const g2 = ([x, y]: string[][]) => [x![1], x![0], y![1], y![0]];
      const expected = [
        ...key.vk_alpha_1.slice(0, 2),
        ...[key.vk_beta_2, key.vk_gamma_2, key.vk_delta_2].flatMap(g2),
        ...key.IC.flatMap((point) => point.slice(0, 2)),
      ];
      expect((await contract.verificationKey()).map(String)).to.deep.equal(expected);
    });

    it("costs little more gas than its precompiles", async () => {
      const contract = await connection.ethers.deployContract(name);
      const request = await contract[method].populateTransaction(proof as never, signals as never);
      const [signer] = await connection.ethers.getSigners();
      const receipt = await (await signer!.sendTransaction(request)).wait();
      const bytes = Buffer.from(request.data.slice(2), "hex");
      const calldata = BigInt(bytes.reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), 0));
      const precompiles = GAS_SIGNAL * BigInt(key.nPublic) + GAS_PAIRINGS;
      const overhead = receipt!.gasUsed - 21_000n - calldata - precompiles;
      // Two calls of 100 gas for each signal, and about twenty opcodes around each.
      expect(overhead).to.be.within(0n, 300n * BigInt(key.nPublic) + 700n);
    });
  });
}
