import { expect } from "chai";
import { Wallet } from "ethers";
import type { RelayerContext, Round } from "../../src/relayer/context.ts";
import { FeeMarket } from "../../src/relayer/fee-market.ts";
import { Sender } from "../../src/relayer/sender.ts";
import { DEFAULT_RELAYER_CONFIG } from "../../src/relayer/types.ts";
import type { UnsignedTransaction } from "../../src/signer/index.ts";
import type { OutboxTransaction } from "../../src/store/index.ts";

const GWEI = 1_000_000_000n;
const POOL = `0x${"11".repeat(20)}`;
const plan = { to: POOL, data: "0x", gasLimit: 1_000_000n, operationIds: [] };

describe("the daily gas budget", () => {
  let spent = 0n;
  const signer = Wallet.createRandom();
  const account = {
    address: signer.address,
    sign: (transaction: UnsignedTransaction) => signer.signTransaction(transaction),
  };
  const config = { ...DEFAULT_RELAYER_CONFIG, gasBudgetPerDay: 100_000_000n * GWEI };
  const outbox = {
    nonces: async () => new Set(),
    summaries: async () => [],
    record: async () => {},
    sent: async () => {},
    replace: async () => {},
  };
  const market = new FeeMarket({
    ...config,
    clock: Date.now,
    maxFeePerGas: 200n * GWEI,
    maxPriorityFeePerGas: GWEI,
    chain: {
      priorityFee: async () => 0n,
      feeHistory: async () => ({ baseFees: [], tips: [] }),
      head: async () => ({ number: 1, hash: "0x01", timestamp: 0, baseFee: 0n }),
      code: async () => "0x",
      read: async () => 0n as never,
    },
  });
  const node = { assertHas: async () => {}, transactionCount: async () => 0 };
  const context = {
    chain: {
      priorityFee: async () => 0n,
      useNode: (ask: (one: typeof node) => unknown) => ask(node),
      broadcast: async () => ({ accepted: true }),
    },
    store: {
      gasToday: async () => spent,
      outbox,
      asRelayer: (_: unknown, write: (w: object) => unknown) => write({ outbox }),
    },
    log: { info: () => {}, warn: () => {} },
    metrics: { count: () => {} },
    market,
    accounts: { choose: async () => account, find: () => account },
    config,
    clock: Date.now,
    pool: { chainId: 8453n },
  } as unknown as RelayerContext;
  const sender = new Sender(context);
  // A million gas at 20 gwei costs a fifth of the budget.
  const round = { head: { baseFee: 10n * GWEI } } as Round;
  const part = (percent: bigint) => (config.gasBudgetPerDay * percent) / 100n;

  it("reserves half for payments", async () => {
    spent = part(30n);
    for (const kind of ["deposit", "withdraw", "settle", "append"] as const)
      expect(await sender.send({ ...plan, kind }, round), kind).to.equal("sent");
    spent = part(31n);
    for (const kind of ["deposit", "withdraw"] as const)
      expect(await sender.send({ ...plan, kind }, round), kind).to.equal("GAS_BUDGET_EXHAUSTED");
    spent = part(80n);
    for (const kind of ["settle", "append"] as const)
      expect(await sender.send({ ...plan, kind }, round), kind).to.equal("sent");
    spent = part(81n);
    expect(await sender.send({ ...plan, kind: "settle" }, round)).to.equal("GAS_BUDGET_EXHAUSTED");
  });

  it("limits replacements too, except cancellations", async () => {
    const attempts = [{ maxFee: 20n * GWEI, maxPriority: GWEI }];
    const stuck = { ...plan, id: "1", kind: "settle", nonce: 0, attempts } as unknown as OutboxTransaction;
    const dear = { head: { baseFee: 30n * GWEI } } as Round;
    // At 60 gwei instead of 20 it costs another 40% of the budget.
    spent = part(60n);
    expect(await sender.replace(stuck, dear, false)).to.equal(true);
    spent = part(61n);
    expect(await sender.replace(stuck, dear, false)).to.equal(false);
    expect(await sender.replace(stuck, dear, true)).to.equal(true);
  });
});
