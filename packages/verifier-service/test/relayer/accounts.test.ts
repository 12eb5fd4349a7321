import { expect } from "chai";
import type { Account } from "../../src/relayer/account.ts";
import { Accounts } from "../../src/relayer/accounts.ts";
import type { SignerErrorCode } from "../../src/signer/index.ts";
import type { TransactionKind, TransactionSummary } from "../../src/store/index.ts";

const NOW = 1_790_000_000_000;
const STUCK_AFTER = 45_000;
const ROUND = { head: { number: 1, hash: "0x01" } };

interface Fake {
  readonly address: string;
  isDraining: boolean;
  isPaused: boolean;
  fault: SignerErrorCode | undefined;
  checks: number;
  check(): Promise<SignerErrorCode | undefined>;
}

const fake = (address: string): Fake => ({
  address,
  isDraining: false,
  isPaused: false,
  fault: undefined,
  checks: 0,
  async check() {
    this.checks += 1;
    return this.fault;
  },
});

describe("the choice of the relayer's account", () => {
  let fakes: [Fake, Fake, Fake];
  let balances: Record<string, bigint>;
  let accounts: Accounts;
  beforeEach(() => {
    fakes = [fake("0xa"), fake("0xb"), fake("0xc")];
    balances = { "0xa": 10n, "0xb": 10n, "0xc": 10n };
    accounts = new Accounts({
      accounts: fakes as unknown as Account[],
      chain: { balance: async (address) => balances[address]! },
      config: { maxInFlight: 4, stuckAfter: STUCK_AFTER },
      clock: () => NOW,
    });
  });
  const open = (sender: string, kind: TransactionKind, age = 0) =>
    ({ sender, kind, state: "sent", cost: 1n, createdAt: NOW - age }) as TransactionSummary;
  const choose = async (kind: TransactionKind, under: readonly TransactionSummary[] = [], cost = 1n) => {
    const chosen = await accounts.choose(kind, cost, under, ROUND, new Set());
    return typeof chosen === "string" ? chosen : chosen.address;
  };

  it("prefers those without a stuck transaction, also for the first append", async () => {
    const under = [open("0xa", "settle", STUCK_AFTER), open("0xb", "settle", STUCK_AFTER - 1)];
    expect(await choose("settle", under)).to.equal("0xc");
    expect(await choose("append", under)).to.equal("0xb");
    // Later appends stay where the first one is.
    expect(await choose("append", [...under, open("0xa", "append")])).to.equal("0xa");
    expect(await choose("append", [...under, open("0xa", "append")], 10n)).to.equal("RELAYER_BALANCE_LOW");
  });

  it("takes one whose signer failed only if no other can send, and lets it try again in the background", async () => {
    const [first, second, third] = fakes;
    first.fault = "SIGNER_UNAVAILABLE";
    const under = [open("0xb", "settle", STUCK_AFTER), open("0xc", "settle", STUCK_AFTER)];
    expect(await choose("settle", under)).to.equal("0xb");
    expect(await choose("append", under)).to.equal("0xb");
    expect(fakes.map(({ checks }) => checks)).to.deep.equal([2, 0, 0]);
    [second.fault, third.fault] = ["SIGNER_REFUSED", "SIGNER_REFUSED"];
    expect(await choose("settle", under)).to.equal("0xa");
    expect(fakes.map(({ checks }) => checks)).to.deep.equal([2, 1, 1]);
  });

  it("names the fault of one that may send, not of a draining one, if none can", async () => {
    const [first, second, third] = fakes;
    Object.assign(first, { isDraining: true, isPaused: true, fault: "SIGNER_REFUSED" });
    for (const account of [second, third]) Object.assign(account, { isPaused: true, fault: "SIGNER_UNAVAILABLE" });
    expect(await choose("settle")).to.equal("SIGNER_UNAVAILABLE");
  });

  it("keeps room for payments that do not fill a transaction while deposits and withdrawals are under way", () => {
    const others = fakes.flatMap(({ address }) => [open(address, "deposit"), open(address, "withdraw")]);
    expect(accounts.room(others)).to.deep.equal({ room: 6, roomForOthers: 0, roomForFew: 4 });
    const settles = fakes.map(({ address }) => open(address, "settle"));
    expect(accounts.room([...others, ...settles])).to.deep.equal({ room: 3, roomForOthers: 0, roomForFew: 1 });
    expect(accounts.room(fakes.map(({ address }) => open(address, "settle", STUCK_AFTER))).roomForFew).to.equal(4);
  });

  it("lets only one whose signer works take over from another", () => {
    const [first, second, third] = fakes;
    expect(["0xa", "0xd"].map((address) => accounts.hasOther(address))).to.deep.equal([true, true]);
    [second.fault, third.fault] = ["SIGNER_UNAVAILABLE", "SIGNER_UNAVAILABLE"];
    expect(["0xa", "0xd"].map((address) => accounts.hasOther(address))).to.deep.equal([false, true]);
    first.fault = "SIGNER_UNAVAILABLE";
    expect(accounts.hasOther("0xd")).to.equal(false);
  });

  it("simulates calls from the account with the most ETH", async () => {
    expect(accounts.caller.address).to.equal("0xa");
    balances = { "0xa": 1n, "0xb": 3n, "0xc": 2n };
    await accounts.readBalances();
    expect(accounts.caller.address).to.equal("0xb");
    balances = { "0xa": 0n, "0xb": 0n, "0xc": 0n };
    await accounts.readBalances();
    expect(accounts.caller.address).to.equal("0xa");
  });
});
