import { readFileSync } from "node:fs";
import { decodeSignals } from "@sotto/groth16";
import { artifactPaths } from "@sotto/keys/circuits/paths";
import {
  appendChallenge,
  depositAuthorizationNonce,
  depositBlinding,
  evaluateAppend,
  FIELD_MODULUS,
  noteCommitment,
  paymentContext,
  signalsDigest,
  withdrawalContext,
  withdrawalPublicSignals,
} from "@sotto/protocol";
import { createVerifier } from "@sotto/prover";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { type Connection, connect, type Deployed, deployPool, SMALLEST_DEPOSIT } from "@sotto/test-pool/hardhat/deploy";
import { PoolWorld, settleArguments, withdrawArgument } from "@sotto/test-pool/hardhat/pool-world";
import { QueueModel } from "@sotto/test-pool/hardhat/queue-model";
import { expect } from "chai";
import type { Interface } from "ethers";
import { readRecording } from "./support/recording.ts";

/** Random cases of each comparison. */
const CASES = fuzzSize(500, 20_000);
/** Cases that verify a pairing in both languages. */
const PROOFS = fuzzSize(60, 2_000);

const U64 = 2n ** 64n;
const word = (value: bigint): string => `0x${value.toString(16).padStart(64, "0")}`;

/** Values at the edges of a field element more often than a uniform draw would. */
const edges = (random: Random): bigint =>
  random.pick([
    random.field(),
    random.field(),
    random.word(),
    0n,
    1n,
    FIELD_MODULUS - 1n,
    FIELD_MODULUS,
    2n ** 256n - 1n,
  ]);

const amount = (random: Random): bigint => random.pick([random.word() % U64, 0n, 1n, U64 - 1n]);

interface Reverted {
  readonly name: string;
  readonly args: readonly unknown[];
}

/** The custom error of a call that must revert; it may come from a contract that the callee calls. */
async function revertOf(parsers: readonly Interface[], call: Promise<unknown>): Promise<Reverted> {
  const data = await call.then(
    () => undefined,
    (error: unknown) => (error as { data?: unknown }).data,
  );
  if (typeof data !== "string") throw new Error("the call did not revert with an error");
  const found = parsers.map((parser) => parser.parseError(data)).find((error) => error !== null);
  if (found === undefined || found === null) throw new Error(`unknown error ${data.slice(0, 10)}`);
  return { name: found.name, args: found.args.toArray() };
}

describe("TypeScript and Solidity agree", function () {
  slow(this, "thousands of calls of contracts");
  let connection: Connection;
  let deployed: Deployed;
  let place: { chainId: bigint; pool: string };
  const random = new Random("differential");

  before(async () => {
    connection = await connect();
    deployed = await deployPool(connection);
    place = { chainId: deployed.chainId, pool: deployed.poolAddress };
  });

  const repeat = async (cases: number, test: () => Promise<void>): Promise<void> => {
    for (let i = 0; i < cases; i++) await test();
  };

  it(`on the commitment of a note: ${CASES} cases`, async () => {
    const address = await deployed.pool.noteHasher();
    const hasher = await connection.ethers.getContractAt("INoteHasher", address);
    await repeat(CASES, async () => {
      const note = { amount: amount(random), ownerTag: random.field(), blinding: random.field() };
      expect(await hasher.hash([note.amount, note.ownerTag, note.blinding])).to.equal(noteCommitment(note));
    });
  });

  it(`on the context of a payment: ${CASES} cases`, async () => {
    const { pool } = deployed;
    await repeat(CASES, async () => {
      const [validUntil, resourceDigest] = [amount(random), random.bytes32()];
      const payment = { proof: Array<string>(8).fill("0"), signals: Array<bigint>(10).fill(FIELD_MODULUS - 1n) };
      const call = pool.settle.staticCall(settleArguments([{ ...payment, validUntil, resourceDigest }]));
      const { name, args } = await revertOf([pool.interface], call);
      const expected = paymentContext({ ...place, validUntil, resourceDigest });
      expect([name, ...args]).to.deep.equal(["ContextMismatch", 0n, expected, FIELD_MODULUS - 1n]);
    });
  });

  it(`on the context of a withdrawal: ${CASES} cases`, async () => {
    const { pool } = deployed;
    await repeat(CASES, async () => {
      const terms = {
        recipient: random.address(),
        fee: amount(random),
        feeRecipient: random.address(),
        validUntil: amount(random),
      };
      const withdrawal = {
        proof: Array<string>(8).fill("0"),
        signals: Array<bigint>(13).fill(FIELD_MODULUS - 1n),
        statementHash: 0n,
      };
      const call = pool.withdraw.staticCall(withdrawArgument({ ...withdrawal, ...terms }));
      const { name, args } = await revertOf([pool.interface], call);
      const expected = withdrawalContext({ ...place, ...terms });
      expect([name, ...args]).to.deep.equal(["ContextMismatch", 0n, expected, FIELD_MODULUS - 1n]);
    });
  });

  it(`on which signals are field elements: ${CASES} cases`, async () => {
    const { pool } = deployed;
    await repeat(CASES, async () => {
      const signals = Array.from({ length: 10 }, () => (random.below(4) === 0 ? edges(random) : random.field()));
      const payment = { proof: Array<string>(8).fill("0"), signals, validUntil: 0n, resourceDigest: word(0n) };
      const { name } = await revertOf([pool.interface], pool.settle.staticCall(settleArguments([payment])));
      let accepted = true;
      try {
        decodeSignals(signals.map(String), 10);
      } catch {
        accepted = false;
      }
      expect(name !== "SignalOutOfField").to.equal(accepted);
    });
  });

  it(`on the nonce of a signed deposit: ${CASES} cases`, async () => {
    const { ethers } = connection;
    const spy = await ethers.deployContract("SpyToken");
    const { pool } = await deployPool(connection, { token: await spy.getAddress() });
    const parsers = [spy.interface, pool.interface];
    await repeat(CASES, async () => {
      const count = random.pick([1, 1, 2, 3, 8]);
      const ownerTags = Array.from({ length: count }, () => random.field());
      const amounts = ownerTags.map(() => SMALLEST_DEPOSIT + (random.word() % (U64 - SMALLEST_DEPOSIT)));
      const salt = random.bytes32();
      const signature = `0x${"00".repeat(65)}`;
      const arguments_ = [random.address(), ownerTags, amounts, salt, 0, 0, signature] as const;
      const [from, ...rest] = arguments_;
      const call = pool.depositWithAuthorization.staticCall(from, ...rest);
      const { name, args } = await revertOf(parsers, call);
      const total = amounts.reduce((sum, each) => sum + each, 0n);
      expect([name, ...args]).to.deep.equal(["Asked", total, depositAuthorizationNonce({ ownerTags, amounts }, salt)]);
    });
  });

  it(`on leaves, chain, checkpoints, challenge and evaluation: ${CASES} appends`, async () => {
    const { ethers } = connection;
    const { pool, poolAddress, chainId, token, signers } = deployed;
    const spy = await ethers.deployContract("SpyVerifier");
    const others = [pool.paymentVerifier(), pool.withdrawalVerifier(), pool.noteHasher()];
    const [payment, withdrawal, hasher] = (await Promise.all(others)) as [string, string, string];
    const args = [
      await token.getAddress(),
      payment,
      withdrawal,
      await spy.getAddress(),
      hasher,
      SMALLEST_DEPOSIT,
    ] as const;
    const spied = await ethers.deployContract("ShieldedPool", [...args]);
    expect(poolAddress).to.not.equal(await spied.getAddress());
    const here = { chainId, pool: await spied.getAddress() };
    await token.mint(signers[0]!.address, 10n ** 15n);
    await token.approve(here.pool, 10n ** 15n);
    const queue = new QueueModel();
    const queued: bigint[] = [];
    const oldRoot = await spied.root();
    let done = 0;
    while (done < CASES) {
      // One more deposit: its commitments, the chain and all checkpoints.
      const tags = Array.from({ length: random.pick([1, 1, 2, 5, 20]) }, () => random.field());
      if (queued.length + tags.length <= 300) {
        const amounts = tags.map(() => SMALLEST_DEPOSIT + (random.word() % 1_000_000n));
        const receipt = (await (await spied.deposit(tags, amounts)).wait())!;
        const { timestamp } = await receipt.getBlock();
        for (const [i, ownerTag] of tags.entries()) {
          const blinding = depositBlinding(here, queued.length);
          const leaf = noteCommitment({ amount: amounts[i]!, ownerTag, blinding });
          queued.push(leaf);
          queue.push([leaf], timestamp);
        }
      }
      const checkpoints = queue.checkpoints();
      expect((await spied.queue()).newest).to.equal(checkpoints.at(-1)!.sequence);
      for (const { sequence, chain } of [checkpoints.at(-1)!, random.pick(checkpoints)])
        expect(await spied.checkpoint(sequence)).to.equal(chain);

      // Appends of every length that fits, to random roots: the pool tells its verifier the challenge and the evaluation.
      const fitting = checkpoints.filter(({ count }) => count <= 64);
      for (let tries = 0; tries < 8; tries++, done++) {
        const { sequence, count } = random.pick(fitting);
        const leaves = queued.slice(0, count);
        const newRoot = random.field();
        const call = spied.append.staticCall(newRoot, leaves, [1, 0, 0, 0, 0, 0, 0, 0], sequence);
        const { name, args: asked } = await revertOf([spy.interface, spied.interface], call);
        const statement = { ...here, oldRoot, newRoot, startIndex: 0, leaves };
        const z = appendChallenge(statement);
        const signals = [newRoot, z, evaluateAppend(z, statement)];
        expect(name).to.equal("Asked");
        expect([...(asked[0] as bigint[])]).to.deep.equal(signals);
      }
    }
  });

  it(`on the digest of a payment and of a withdrawal: ${PROOFS} cases`, async () => {
    const world = await PoolWorld.create("digests");
    await world.withRoot();
    for (let settled = 0; settled < PROOFS; settled += 10) {
      const payments = await Promise.all(Array.from({ length: 9 }, () => world.payment()));
      await world.settle(...payments);
      for (const { signals } of payments)
        expect(await world.pool.spentBy(signals[6]!)).to.equal(signalsDigest(signals));
      const withdrawal = await world.withdrawal();
      await world.mined(world.pool.withdraw(withdrawArgument(withdrawal)));
      expect(await world.pool.spentBy(withdrawal.signals[3]!)).to.equal(signalsDigest(withdrawal.signals));
      while (world.queue.size > world.queue.appended) await world.append();
    }
  });

  it(`on which proofs are valid: ${PROOFS} recorded proofs, changed in one word`, async () => {
    const { ethers } = connection;
    const circuits = { payment: "PaymentVerifier", withdrawal: "WithdrawalVerifier" } as const;
    const keys = Object.keys(circuits).map((name) => [
      name,
      JSON.parse(readFileSync(artifactPaths(name).vkey, "utf8")),
    ]);
    const verifier = createVerifier({ vkeys: Object.fromEntries(keys) });
    const contracts = {
      payment: await ethers.getContractAt("IPaymentVerifier", await deployed.pool.paymentVerifier()),
      withdrawal: await ethers.getContractAt("IWithdrawalVerifier", await deployed.pool.withdrawalVerifier()),
    };
    const recorded = readRecording().steps.filter(({ kind }) => kind === "payment" || kind === "withdrawal");
    let valid = 0;
    await repeat(PROOFS, async () => {
      const step = random.pick(recorded);
      if (step.kind !== "payment" && step.kind !== "withdrawal") throw new Error("not a proof of a spend");
      const shown = step.kind === "payment" ? step.signals : withdrawalPublicSignals(step.signals.map(BigInt));
      const words = [...step.proof.words, ...shown.map(String)];
      if (random.below(4) !== 0) {
        const at = random.below(words.length);
        const value = BigInt(words[at]!);
        const changed = random.pick([
          edges(random),
          value + 1n,
          value + FIELD_MODULUS,
          value ^ (1n << BigInt(random.below(250))),
        ]);
        words[at] = (changed % 2n ** 256n).toString();
      }
      const [proof, signals] = [words.slice(0, 8), words.slice(8)];
      type Verify = (proof: readonly string[], signals: readonly string[]) => Promise<boolean>;
      const contract = contracts[step.kind] as unknown as { verifyPayment: Verify; verifyWithdrawal: Verify };
      const method = step.kind === "payment" ? "verifyPayment" : "verifyWithdrawal";
      const here = await verifier.verify(step.kind, proof, signals).catch(() => false);
      expect(await contract[method](proof, signals)).to.equal(here);
      if (here) valid++;
    });
    expect(valid, "unchanged proofs").to.be.greaterThan(0);
    expect(valid, "changed proofs").to.be.lessThan(PROOFS);
  });
});
