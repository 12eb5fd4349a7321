import { settleCall } from "@sotto/chain/ethers";
import type { ViewingKey } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { rejection } from "@sotto/test-kit/rejection";
import type { Wallet } from "@sotto/wallet";
import {
  type AssertTotalsOptions,
  assertTotals,
  type CheckedTotals,
  calldataSignals,
  proveTotals,
  type TotalsOptions,
  type TotalsStatement,
} from "@sotto/wallet/receipts";
import { expect } from "chai";
import { start } from "./merchant.ts";
import { MERCHANT, URL, type World } from "./world.ts";

/** The lasting key of a wallet, with its address. */
export const lastingKey = (wallet: Wallet): ViewingKey => wallet.viewingKeys({ lasting: true }).keys[0]!;

export const AUDITOR = "Audit office, accounts of 2026";
/** Payments to the merchant's wallet address, base units. */
export const AMOUNTS = [1_000n, 2_345n, 999n];

export interface TotalsWorld {
  world: World;
  merchant: Wallet;
  other: Wallet;
  /** Three hidden payments, a shown payment under another wallet address, and a payment to another recipient. */
  statement: TotalsStatement;
  prove(changes?: Partial<TotalsOptions>): Promise<TotalsStatement>;
  check(value: unknown, changes?: Partial<AssertTotalsOptions>): Promise<CheckedTotals>;
  /** Expects that the statement with these changes is rejected. */
  refused(change: Partial<TotalsStatement>, code?: string): Promise<void>;
}

export async function openTotals(): Promise<TotalsWorld> {
  const { world, payer, merchant } = await start([5_000n, 5_000n, 5_000n, 5_000n, 5_000n]);
  const other = await world.wallet();
  /** Calldata by transaction, as a node returns it. */
  const calldata = new Map<string, string>();
  const pay = async (to: Wallet, amount: bigint, wallet = MERCHANT) => {
    const recipient = { ...world.recipient(to), wallet };
    const { settle } = await payer.pay({ recipient, amount, resourceUrl: URL });
    const call = settleCall(POOL, [settle]);
    const block = world.chain.mine(call);
    calldata.set(block.logs[0]!.transactionHash, `0x12345678${"00".repeat(7)}${call.data.slice(2)}`);
  };
  for (const amount of AMOUNTS) await pay(merchant, amount);
  await pay(other, 4_000n);
  await pay(merchant, 77n, `0x${"99".repeat(20)}`);

  const place = { chain: world.chain, chainId: 31337n, pool: POOL, confirmations: 1, auditor: AUDITOR };
  const prove = (changes: Partial<TotalsOptions> = {}) =>
    proveTotals({
      ...place,
      ...lastingKey(merchant),
      wallet: MERCHANT,
      fromBlock: 0,
      toBlock: world.chain.blocks.length - 1,
      signals: calldataSignals(async (hash) => calldata.get(hash)),
      showRest: true,
      ...changes,
    });
  const check = (value: unknown, changes: Partial<AssertTotalsOptions> = {}) =>
    assertTotals(value, { ...place, ...changes });
  const statement = JSON.parse(JSON.stringify(await prove())) as TotalsStatement;
  const refused = async (change: Partial<TotalsStatement>, code = "RECEIPT_INVALID") => {
    expect((await rejection(check({ ...statement, ...change }))).code).to.equal(code);
  };
  return { world, merchant, other, statement, prove, check, refused };
}
