// Withdrawals through a service: an interrupted withdrawal resumes with the same notes and executes once.

import { randomSeed, withdrawalSignals } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { type CashOutOptions, MemoryStore, type Wallet, type WalletOptions } from "@sotto/wallet";
import { expect } from "chai";
import { LocalService } from "./support/local-service.ts";
import { dyingStore, World } from "./support/world.ts";

const NOTES = [50_000n, 40_000n, 30_000n];
const TOTAL = 120_000n;
const AMOUNT = 20_000n;
const ACCOUNT = `0x${"cc".repeat(20)}`;

describe("withdrawing through a service", () => {
  let world: World;
  let service: LocalService;
  let seed: Uint8Array;
  let disk: MemoryStore;
  beforeEach(() => {
    world = new World();
    service = new LocalService(world);
    seed = randomSeed();
    disk = new MemoryStore();
  });
  const open = (changes: Partial<WalletOptions> = {}) => world.wallet({ seed, store: disk, ...changes });
  const funded = (changes: Partial<WalletOptions> = {}) => world.funded(NOTES, { seed, store: disk, ...changes });
  const received = () => world.token.balanceOf(ACCOUNT);
  const options = (changes: Partial<CashOutOptions> = {}): CashOutOptions => ({
    recipient: ACCOUNT,
    amount: AMOUNT,
    service: service.client,
    ...changes,
  });
  const nullifiersOf = (body: Record<string, unknown>) =>
    withdrawalSignals((body["signals"] as string[]).map(BigInt)).nullifiers.join();
  /** Nullifiers of all withdrawals that the service received. */
  const watch = () => {
    const sent = new Set<string>();
    service.before = (_, body) => void sent.add(nullifiersOf(body));
    return sent;
  };
  const passTime = (seconds: number) => {
    world.chain.time += seconds;
    world.chain.mine();
  };

  it("returns when the wallet sees the withdrawal on chain, and reports its stages", async () => {
    const wallet = await funded();
    const stages: string[] = [];
    const done = await wallet.cashOut(
      options({
        onProgress: ({ stage, id, transaction, resumed }) =>
          stages.push(`${stage} ${id !== undefined} ${transaction !== undefined} ${resumed}`),
      }),
    );
    expect(stages).to.deep.equal([
      "proving false false false",
      "submitting true false false",
      "withdrawn true true false",
    ]);
    const { id, transactionHash, blockNumber } = wallet.history()[0]!;
    expect(done).to.deep.include({ id, recipient: ACCOUNT, amount: AMOUNT, resumed: false });
    expect(done).to.include({ transaction: transactionHash, block: blockNumber });
    expect(received()).to.equal(AMOUNT);
    expect(wallet.balance().spendable).to.equal(TOTAL - AMOUNT);
    expect(wallet.unfinishedWithdrawals()).to.deep.equal([]);
    // The first call has returned, so an equal call starts another withdrawal.
    expect(await wallet.cashOut(options())).to.include({ resumed: false });
    expect(received()).to.equal(2n * AMOUNT);
  });

  it("withdraws all notes in full, and pays a fee from the notes", async () => {
    const wallet = await funded();
    const fee = { amount: 500n, recipient: `0x${"fe".repeat(20)}` };
    const done = await wallet.cashOut(options({ amount: undefined, all: true, fee }));
    expect(done.amount).to.equal(TOTAL - fee.amount);
    expect([received(), world.token.balanceOf(fee.recipient)]).to.deep.equal([done.amount, fee.amount]);
    expect(wallet.balance().total).to.equal(0n);
  });

  it("withdraws once if the process dies before or after any write to its store", async () => {
    let died = 0;
    for (const after of [false, true])
      for (let writes = 0; ; writes += 1) {
        seed = randomSeed();
        disk = new MemoryStore();
        await funded();
        const before = received();
        const sent = watch();
        const dying = await open({ store: dyingStore(disk, writes, after) }).catch(() => undefined);
        const outcome = await dying?.cashOut(options()).catch(({ message }: Error) => message);
        if (typeof outcome === "object") break;
        died += 1;
        if (outcome !== undefined) expect(outcome).to.equal("the process died");
        const wallet = await open();
        await wallet.scan();
        const left = wallet.unfinishedWithdrawals().length;
        const executed = received() > before;
        // After the last write the withdrawal is finished, so an equal call would start another one.
        if (left > 0 || !executed) expect(await wallet.cashOut(options())).to.include({ resumed: left > 0 });
        expect([received() - before, sent.size], `write ${writes}`).to.deep.equal([AMOUNT, 1]);
        expect(wallet.balance()).to.include({ spendable: TOTAL - AMOUNT, total: TOTAL - AMOUNT });
        expect(wallet.unfinishedWithdrawals()).to.deep.equal([]);
      }
    expect(died).to.be.greaterThan(5);
  });

  it("resumes after the user stopped waiting, whether or not the withdrawal was executed", async () => {
    const wallet = await funded();
    for (const executed of [false, true]) {
      const before = received();
      const ending = new AbortController();
      const reason = new Error("the user pressed stop");
      service.before = async (path, body) => {
        if (executed) await service.answer(path, body);
        ending.abort(reason);
        throw reason;
      };
      const stopped = wallet.cashOut(options({ signal: ending.signal }));
      expect(await stopped.catch((error: unknown) => error)).to.equal(reason);
      await wallet.scan();
      const [left] = wallet.unfinishedWithdrawals();
      expect(left).to.deep.include({ recipient: ACCOUNT, amount: AMOUNT, proved: true, inProgress: false });
      expect(left?.transaction !== undefined).to.equal(executed);
      service.before = () => undefined;
      expect(await wallet.cashOut(options())).to.include({ id: left?.id, resumed: true });
      expect(received() - before).to.equal(AMOUNT);
      expect(wallet.unfinishedWithdrawals()).to.deep.equal([]);
    }
  });

  it("releases its notes if it ends before the proof is generated", async () => {
    const ending = new AbortController();
    const prover = {
      artifacts: world.prover.artifacts,
      prove: async () => {
        ending.abort(new Error("the user pressed stop"));
        throw ending.signal.reason;
      },
    };
    const stopped = (await funded({ prover })).cashOut(options({ signal: ending.signal }));
    expect((await stopped.catch((error: Error) => error.message)) as string).to.equal("the user pressed stop");
    const wallet = await open();
    await wallet.scan();
    expect([wallet.unfinishedWithdrawals(), wallet.balance().spendable]).to.deep.equal([[], TOTAL]);
    expect(service.asked).to.deep.equal([]);
  });

  it("does not resume a withdrawal with different terms", async () => {
    const wallet = await funded();
    service.before = () => ({ httpStatus: 429, code: "QUOTA_EXCEEDED" });
    expect((await rejection(wallet.cashOut(options()))).code).to.equal("SERVICE_REFUSED");
    service.before = () => undefined;
    // The open withdrawal holds the notes.
    const other = () => wallet.cashOut(options({ amount: AMOUNT + 1n }));
    expect((await rejection(other())).code).to.equal("FUNDS_NOT_READY");
    const [left] = wallet.unfinishedWithdrawals();
    expect(await wallet.resumeWithdrawal(left!.id, { service: service.client })).to.include({ amount: AMOUNT });
    expect(await other()).to.include({ resumed: false, amount: AMOUNT + 1n });
    expect(received()).to.equal(2n * AMOUNT + 1n);
  });

  it("refuses an equal call while another one is running", async () => {
    const wallet = await funded();
    const running = wallet.cashOut(options());
    expect((await rejection(wallet.cashOut(options()))).code).to.equal("WITHDRAWAL_IN_PROGRESS");
    const { id } = await running;
    expect(received()).to.equal(AMOUNT);
    service.before = async () => {
      expect((await rejection(wallet.resumeWithdrawal(other.id))).code).to.equal("INVALID_OPTION");
      const again = wallet.resumeWithdrawal(other.id, { service: service.client });
      expect((await rejection(again)).code).to.equal("WITHDRAWAL_IN_PROGRESS");
      expect(wallet.unfinishedWithdrawals()).to.deep.include({ ...other, inProgress: true, proved: true });
      return undefined;
    };
    const other = { id: "", recipient: ACCOUNT, amount: AMOUNT + 1n, transaction: undefined };
    const second = wallet.cashOut(
      options({
        amount: AMOUNT + 1n,
        onProgress: (progress) => {
          if (progress.stage !== "submitting") return;
          const { created, validUntil } = wallet.unfinishedWithdrawals()[0]!;
          Object.assign(other, { id: progress.id, created, validUntil });
        },
      }),
    );
    expect((await second).id).not.to.equal(id);
  });

  it("makes a second attempt with the same notes if the service can no longer execute the first", async () => {
    const wallet = await funded();
    const bodies: Record<string, unknown>[] = [];
    const refuse = (answer: Record<string, unknown>) => {
      service.before = (_, body) => {
        bodies.push(body);
        return answer;
      };
    };
    refuse({ status: "failed", txSignature: "0x", reason: "REVERTED" });
    expect((await rejection(wallet.cashOut(options()))).code).to.equal("NOT_SETTLED");
    expect((await rejection(wallet.cashOut(options()))).code).to.equal("NOT_SETTLED");
    refuse({ httpStatus: 429, code: "QUOTA_EXCEEDED" });
    expect((await rejection(wallet.cashOut(options()))).code).to.equal("SERVICE_REFUSED");
    // Four requests: the first call; the second call with the stored proof, then a new attempt; the third call with
    // that attempt.
    expect(new Set(bodies.map(({ validUntil }) => validUntil)).size).to.equal(2);
    expect(bodies).to.have.length(4);
    expect(new Set(bodies.map(nullifiersOf)).size).to.equal(1);
    service.before = () => undefined;
    expect(await wallet.cashOut(options())).to.include({ resumed: true });
    expect(received()).to.equal(AMOUNT);
    for (const body of bodies) expect(() => world.withdraw({ withdraw: body } as never)).to.throw("AlreadySpent");
  });

  it("starts a new withdrawal only when the first can no longer be executed", async () => {
    const wallet = await funded();
    let body: Record<string, unknown> = {};
    service.before = (_, sent) => {
      body = sent;
      throw new TypeError("fetch failed");
    };
    await rejection(wallet.cashOut(options({ validFor: 60 })));
    passTime(600);
    await wallet.scan();
    expect(wallet.unfinishedWithdrawals()).to.deep.equal([]);
    service.before = () => undefined;
    expect(await wallet.cashOut(options())).to.include({ resumed: false });
    expect(() => world.withdraw({ withdraw: body } as never)).to.throw("WithdrawalExpired");
    expect(received()).to.equal(AMOUNT);
  });

  it("resumes a withdrawal that a reorganization removed", async () => {
    const wallet = await funded({ finality: 2 });
    world.chain.mineMany(3);
    await wallet.scan();
    const { height } = world.chain;
    const first = await wallet.cashOut(options());
    world.chain.takeBack(world.chain.height - height);
    world.chain.mine();
    service = new LocalService(world);
    await wallet.scan();
    expect(wallet.unfinishedWithdrawals().map(({ id }) => id)).to.deep.equal([first.id]);
    const sent = watch();
    expect(await wallet.cashOut(options())).to.include({ id: first.id, resumed: true });
    expect([received(), sent.size]).to.deep.equal([AMOUNT, 1]);
  });

  it("does not trust a service that claims to have executed it", async () => {
    const wallet = await funded();
    const lie = { status: "success", txSignature: `0x${"12".repeat(32)}`, blockNumber: 1, gasFeePaidBy: "0x" };
    service.before = () => lie;
    expect((await rejection(wallet.cashOut(options({ timeoutMs: 300 })))).code).to.equal("TIMED_OUT");
    expect(received()).to.equal(0n);
    service.before = () => undefined;
    expect(await wallet.cashOut(options())).to.include({ resumed: true });
    expect(received()).to.equal(AMOUNT);
  });

  it("uses the caller's submit function instead of a service", async () => {
    const wallet = await funded();
    const done = await wallet.cashOut({
      recipient: ACCOUNT,
      amount: AMOUNT,
      submit: async (call) => {
        world.withdraw({ withdraw: call } as never);
        return { gasPaidBy: ACCOUNT };
      },
    });
    expect(done).to.include({ gasPaidBy: ACCOUNT, resumed: false });
    expect([received(), service.asked.length]).to.deep.equal([AMOUNT, 0]);
  });

  it("rejects invalid requests before anything is proved", async () => {
    const wallet: Wallet = await funded();
    const cases: [string, Partial<Record<keyof CashOutOptions, unknown>>][] = [
      ["INVALID_OPTION", { amount: undefined }],
      ["INVALID_OPTION", { all: true }],
      ["INVALID_OPTION", { amount: 0n }],
      ["INVALID_AMOUNT", { amount: -1n }],
      ["INVALID_ADDRESS", { recipient: "0x" }],
      ["INVALID_OPTION", { recipient: wallet.pool.pool }],
      ["INVALID_OPTION", { validFor: 59 }],
      ["INVALID_OPTION", { timeoutMs: -1 }],
      ["INVALID_OPTION", { service: undefined }],
      ["SERVICE_NOT_ALLOWED", { service: "ftp://x.example" }],
      ["INSUFFICIENT_FUNDS", { amount: TOTAL + 1n }],
    ];
    for (const [code, changes] of cases) {
      const error = await rejection(wallet.cashOut({ ...options(), ...changes } as CashOutOptions));
      expect(error.code, Object.keys(changes).join()).to.equal(code);
    }
    expect((await rejection(wallet.resumeWithdrawal("x"))).code).to.equal("UNKNOWN_PAYMENT");
    expect([wallet.history(), service.asked]).to.deep.equal([[], []]);
  });
});
