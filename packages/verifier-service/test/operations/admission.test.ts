import { ChainError } from "@sotto/chain";
import { anyRejection, rejection } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import {
  type AccountOutlook,
  Admission,
  findObstacles,
  MAX_SILENCE_MS,
  type Outlook,
} from "../../src/operations/admission.ts";
import { PAYMENT_GAS } from "../../src/relayer/gas.ts";

const ETHER = 10n ** 18n;
const GWEI = 10n ** 9n;
/** Ten hours before the day's end (UTC). */
const NOW = Date.UTC(2026, 5, 1, 14);
const limits = { gasBudget: ETHER, leastBalance: ETHER / 100n, maxHeadAgeMs: 60_000, blockTimeMs: 12_000 };
const fees = { maxFee: GWEI, maxPriority: GWEI };
const payment = PAYMENT_GAS * GWEI;
const [FIRST, SECOND] = [`0x${"01".repeat(20)}`, `0x${"02".repeat(20)}`] as const;
const good: Outlook = {
  headAge: 12_000,
  fees,
  data: { gas: 0n, fee: 0n },
  accounts: [{ address: FIRST, fault: undefined, balance: ETHER }],
  gasToday: 0n,
  silence: 1_000,
  now: NOW,
  commitments: { payments: 0, unmined: 0n },
};
interface Change extends Partial<Outlook> {
  /** Of the only account. */
  readonly balance?: bigint;
  readonly fault?: AccountOutlook["fault"];
}
const codes = ({ balance = ETHER, fault, ...change }: Change, kind: "payment" | "sponsored" = "payment") =>
  Object.values(
    findObstacles({ ...good, accounts: [{ address: FIRST, fault, balance }], ...change }, limits, kind),
  ).flatMap((found) => found?.code ?? []);

describe("obstacles to settlement", () => {
  it("are absent while chain, price, account, budget and relayer are healthy", () => {
    expect(codes({})).to.deep.equal([]);
    expect(codes({}, "sponsored")).to.deep.equal([]);
  });

  it("include a chain whose newest block is old, unless any age is allowed", () => {
    expect(codes({ headAge: 60_000 })).to.deep.equal([]);
    expect(codes({ headAge: 60_001 })).to.deep.equal(["HEAD_TOO_OLD"]);
    expect(findObstacles({ ...good, headAge: 10 ** 9 }, { ...limits, maxHeadAgeMs: 0 }).head).to.equal(undefined);
    // The clock is behind the chain's time. A chain for development may be moved forward.
    expect(codes({ headAge: -60_000 })).to.deep.equal([]);
    expect(codes({ headAge: -360_000 })).to.deep.equal(["SERVICE_CLOCK_WRONG"]);
    expect(findObstacles({ ...good, headAge: -360_000 }, { ...limits, maxHeadAgeMs: 0 }).head).to.equal(undefined);
  });

  it("include a base fee above the cap", () => {
    expect(codes({ fees: undefined })).to.deep.equal(["FEES_TOO_HIGH"]);
  });

  it("include a signer that does not work", () => {
    for (const fault of ["SIGNER_UNAVAILABLE", "SIGNER_REFUSED", "SIGNER_MISMATCH"] as const)
      expect(codes({ fault })).to.deep.equal([fault]);
  });

  it("include accounts only if no other can send", () => {
    const fault = "SIGNER_UNAVAILABLE" as const;
    const account = (address: string, balance: bigint, failing = false) =>
      ({ address, balance, fault: failing ? fault : undefined }) satisfies AccountOutlook;
    const found = (...accounts: AccountOutlook[]) => codes({ accounts });
    expect(found(account(FIRST, ETHER, true), account(SECOND, ETHER))).to.deep.equal([]);
    expect(found(account(FIRST, ETHER, true), account(SECOND, ETHER, true))).to.deep.equal([fault]);
    expect(found(account(FIRST, 0n), account(SECOND, ETHER))).to.deep.equal([]);
    expect(found(account(FIRST, ETHER, true), account(SECOND, 0n))).to.deep.equal(["RELAYER_BALANCE_LOW"]);
    // Accounts below the least balance do not add up.
    const little = limits.leastBalance - 1n;
    expect(found(account(FIRST, little), account(SECOND, little))).to.deep.equal(["RELAYER_BALANCE_LOW"]);
    const commitments = { payments: 99, unmined: 0n };
    const half = [account(FIRST, 50n * payment), account(SECOND, 50n * payment)];
    expect(codes({ commitments, accounts: half })).to.deep.equal([]);
    expect(codes({ commitments, accounts: half.slice(1) })).to.deep.equal(["RELAYER_BALANCE_LOW"]);
  });

  it("include a balance that does not cover all promised transactions and one more", () => {
    expect(codes({ balance: limits.leastBalance - 1n })).to.deep.equal(["RELAYER_BALANCE_LOW"]);
    expect(codes({ balance: limits.leastBalance })).to.deep.equal([]);
    const commitments = { payments: 99, unmined: 5n * payment };
    expect(codes({ commitments, balance: 105n * payment })).to.deep.equal([]);
    expect(codes({ commitments, balance: 105n * payment - 1n })).to.deep.equal(["RELAYER_BALANCE_LOW"]);
  });

  it("include a budget that cannot pay for all promised transactions and one more", () => {
    const commitments = { payments: 9, unmined: 0n };
    expect(codes({ commitments, gasToday: ETHER - 10n * payment })).to.deep.equal([]);
    expect(codes({ commitments, gasToday: ETHER - 10n * payment + 1n })).to.deep.equal(["GAS_BUDGET_EXHAUSTED"]);
  });

  it("count data on a parent chain, whether it is a fee or a part of the gas", () => {
    const gasToday = ETHER - payment;
    expect(codes({ gasToday })).to.deep.equal([]);
    for (const data of [
      { gas: 0n, fee: 1n },
      { gas: 1n, fee: 0n },
    ])
      expect(codes({ gasToday, data })).to.deep.equal(["GAS_BUDGET_EXHAUSTED"]);
  });

  it("reserve half of the budget for payments", () => {
    const gasToday = ETHER / 2n;
    expect(codes({ gasToday })).to.deep.equal([]);
    expect(codes({ gasToday }, "sponsored")).to.deep.equal(["GAS_BUDGET_EXHAUSTED"]);
  });

  it("include a relayer that has not completed a round for a minute", () => {
    expect(codes({ silence: MAX_SILENCE_MS })).to.deep.equal([]);
    expect(codes({ silence: MAX_SILENCE_MS + 1 })).to.deep.equal(["RELAYER_STUCK"]);
  });

  it("say when to retry: for the budget, on the next day", () => {
    const { budget, leader } = findObstacles({ ...good, gasToday: ETHER, silence: 10 ** 9 }, limits);
    expect(budget?.retryAfter).to.equal(10 * 3_600);
    expect(leader?.retryAfter).to.equal(30);
  });
});

describe("admission", () => {
  let now: number;
  let asked: number;
  let outlook: { balance: bigint; gasToday: bigint; silence: number | undefined; payments: number; baseFee: bigint };
  let broken: Error | undefined;
  let faults: Map<string, AccountOutlook["fault"]>;
  let fault: Error | undefined;
  const open = () =>
    new Admission({
      config: limits,
      relayer: {
        async checkSigners() {
          if (fault !== undefined) throw fault;
          return faults;
        },
      },
      clock: () => now,
      chain: {
        async head() {
          asked += 1;
          if (broken !== undefined) throw broken;
          return { number: 1, hash: "0x01", timestamp: Math.floor(now / 1000), baseFee: outlook.baseFee };
        },
        balance: async (address) => (address === FIRST ? outlook.balance : ETHER),
      },
      store: {
        gasToday: async () => outlook.gasToday,
        commitments: async () => ({ payments: outlook.payments, unmined: 0n }),
        sinceLastRound: async () => outlook.silence,
      },
      market: { current: async () => fees, sampleCost: async () => good.data },
    });
  beforeEach(() => {
    [now, asked, broken, fault, faults] = [NOW, 0, undefined, undefined, new Map([[FIRST, undefined]])];
    outlook = { balance: ETHER, gasToday: 0n, silence: 0, payments: 0, baseFee: GWEI };
  });

  it("rejects while the signer does not work, and in readiness names only the signer", async () => {
    const admission = open();
    faults.set(FIRST, "SIGNER_UNAVAILABLE");
    const error: Error & { details?: unknown } = await rejection(admission.admit("payment"));
    expect(error).to.include({ code: "SIGNER_UNAVAILABLE" });
    expect(error.details).to.deep.equal({ retryAfter: 30 });
    const needs = Object.entries(admission.needs()).map(async ([name, need]) => [name, await need()]);
    const failed = (await Promise.all(needs)).filter(([, check]) => check !== undefined);
    expect(Object.fromEntries(failed)).to.deep.equal({ signer: { ok: false, code: "SIGNER_UNAVAILABLE" } });
    faults.set(FIRST, undefined);
    now += 2_000;
    await admission.admit("payment");
    fault = new TypeError("a fault of the program");
    now += 2_000;
    expect(await anyRejection(admission.admit("payment"))).to.equal(fault);
  });

  it("names in readiness each account that cannot send, while another one can", async () => {
    faults.set(SECOND, "SIGNER_REFUSED");
    faults.set(`0x${"03".repeat(20)}`, undefined);
    outlook.balance = limits.leastBalance - 1n;
    const needs = open().needs();
    expect(await needs.signer()).to.deep.equal({ ok: true, faults: { [SECOND]: "SIGNER_REFUSED" } });
    expect(await needs.relayer()).to.deep.equal({ ok: true, faults: { [FIRST]: "RELAYER_BALANCE_LOW" } });
    expect(await needs.budget()).to.equal(undefined);
  });

  it("rejects with the obstacle's code and the time to retry", async () => {
    const admission = open();
    await admission.admit("payment");
    outlook.gasToday = ETHER;
    now += 2_000;
    const error: Error & { details?: unknown } = await rejection(admission.admit("payment"));
    expect(error).to.include({ code: "GAS_BUDGET_EXHAUSTED" });
    expect(error.details).to.deep.equal({ retryAfter: 10 * 3_600 - 2 });
    expect(await admission.needs().budget()).to.deep.equal({ ok: false, code: "GAS_BUDGET_EXHAUSTED" });
    expect(await admission.needs().relayer()).to.equal(undefined);
  });

  it("checks once every two seconds, and counts admissions in between", async () => {
    const admission = open();
    outlook.gasToday = ETHER - 2n * payment;
    await admission.admit("payment");
    await admission.admit("payment");
    expect((await rejection(admission.admit("payment"))).code).to.equal("GAS_BUDGET_EXHAUSTED");
    expect(asked).to.equal(1);
    now += 2_000;
    await admission.admit("payment");
    expect(asked).to.equal(2);
  });

  it("releases the promise for a payment that is rejected later", async () => {
    const admission = open();
    outlook.gasToday = ETHER - payment;
    const release = await admission.admit("payment");
    expect((await rejection(admission.admit("payment"))).code).to.equal("GAS_BUDGET_EXHAUSTED");
    release();
    await admission.admit("payment");
  });

  it("treats a service that just started as healthy, and one whose first round never ends as stuck", async () => {
    outlook.silence = 10 ** 9;
    const admission = open();
    await admission.admit("payment");
    now += MAX_SILENCE_MS + 1;
    expect((await rejection(admission.admit("payment"))).code).to.equal("RELAYER_STUCK");
    outlook.silence = undefined;
    now += 2_000;
    expect((await rejection(admission.admit("payment"))).code).to.equal("RELAYER_STUCK");
    outlook.silence = 500;
    now += 2_000;
    await admission.admit("payment");
  });

  it("reports an unreachable chain, and passes on other errors", async () => {
    const admission = open();
    broken = new ChainError("NODE_UNREACHABLE", "no route");
    expect((await rejection(admission.admit("payment"))).code).to.equal("CHAIN_UNAVAILABLE");
    broken = Object.assign(new Error("database"), { code: "STORE_UNAVAILABLE" });
    now += 2_000;
    expect(await rejection(admission.admit("payment"))).to.equal(broken);
  });
});
