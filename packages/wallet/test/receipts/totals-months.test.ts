import { settleCall } from "@sotto/chain/ethers";
import { MONTH_MARGIN_MS, type Month, monthStart, type SignedSchedule, scheduleTypedData } from "@sotto/protocol";
import { POOL } from "@sotto/test-chain/pool";
import { rejection } from "@sotto/test-kit/rejection";
import type { Wallet } from "@sotto/wallet";
import {
  assertTotalsDocument,
  calldataSignals,
  monthBlocks,
  proveTotals,
  type TotalsDocument,
  totalsDocument,
} from "@sotto/wallet/receipts";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { nodeOf } from "../support/several-nodes.ts";
import { URL, World } from "../support/world.ts";

const AUDITOR = "Audit office, accounts of 2027";
const [MARCH, APRIL, MAY] = ["2027-03", "2027-04", "2027-05"] as [Month, Month, Month];
const account = new Account(`0x${"42".repeat(32)}`);
const WALLET = account.address.toLowerCase();

describe("totals by month", () => {
  let world: World;
  let merchant: Wallet;
  let document: TotalsDocument;
  /** Calldata by transaction. */
  const calldata = new Map<string, string>();

  const at = (date: string) => {
    world.chain.time = Date.parse(date) / 1000;
    world.chain.mine();
  };
  const blocksOf = (month: Month) =>
    monthBlocks(month, { chain: world.chain, fromBlock: 0, toBlock: world.chain.height });

  async function prove(month: Month, auditor = AUDITOR, wallet = merchant) {
    const { viewingKey, shieldedAddress } = wallet.viewingKeys({ months: [month] }).keys[0]!;
    return proveTotals({
      ...{ chain: world.chain, chainId: 31337n, pool: POOL, viewingKey, shieldedAddress, wallet: WALLET, auditor },
      ...(await blocksOf(month))!,
      confirmations: 1,
      signals: calldataSignals(async (hash) => calldata.get(hash)),
    });
  }

  const check = (value: unknown, schedules: readonly SignedSchedule[] = []) =>
    assertTotalsDocument(JSON.parse(JSON.stringify(value)), {
      // No contract accepts a signature.
      ...{
        chain: nodeOf(world.chain, { call: async () => `0x${"00".repeat(32)}` }),
        chainId: 31337n,
        pool: POOL,
        confirmations: 1,
        schedules,
      },
    });

  /** The schedule of the merchant's addresses from March on. */
  async function schedule(changes: { months?: number; ownerTag?: bigint; keys?: string[] } = {}) {
    const { ownerTag } = merchant.viewingKeys({ lasting: true });
    const months = ([MARCH, APRIL, MAY] as Month[]).slice(0, changes.months ?? 3);
    const keys = months.map((month) => merchant.addressOfMonth(month).slice(0, 66));
    const value = { ...{ wallet: WALLET, chainId: 31337n, pool: POOL, ownerTag, sequence: 1 }, keys, ...changes };
    const made = { ...value, issuedAt: 1_800_000_000 - (1_800_000_000 % 3600), firstMonth: MARCH } as never;
    const { domain, types, message } = scheduleTypedData(made);
    return {
      schedule: made,
      signature: await account.signTypedData(domain, types as never, message),
    } as SignedSchedule;
  }

  before(async () => {
    world = new World();
    at("2027-02-20T00:00:00Z");
    const payer = await world.funded([5_000n, 5_000n, 5_000n, 5_000n, 5_000n]);
    merchant = await world.wallet();
    const pay = async (month: Month, amount: bigint) => {
      const recipient = { wallet: WALLET, shieldedAddress: merchant.addressOfMonth(month) };
      const { settle } = await payer.pay({ recipient, amount, resourceUrl: URL });
      const call = settleCall(POOL, [settle]);
      calldata.set(world.chain.mine(call).logs[0]!.transactionHash, call.data);
    };
    at("2027-03-10T00:00:00Z");
    await pay(MARCH, 1_000n);
    at("2027-03-31T23:58:00Z");
    await pay(MARCH, 200n);
    at("2027-04-01T00:05:00Z");
    await pay(APRIL, 30n);
    // A program that does not know months.
    at("2027-05-10T00:00:00Z");
    await pay(MARCH, 7n);
    document = totalsDocument([
      { month: MARCH, statement: await prove(MARCH) },
      { month: APRIL, statement: await prove(APRIL) },
    ]);
  });

  it("cover the blocks of a month, and of an hour before and after it", async () => {
    const { fromBlock, toBlock } = (await blocksOf(APRIL))!;
    const time = (block: number) => new Date(1000 * world.chain.blocks[block]!.timestamp).toISOString();
    expect(time(fromBlock)).to.match(/^2027-03-31T23:58/);
    expect(time(toBlock)).to.match(/^2027-04-01T00:05/);
    expect(await blocksOf("2027-08" as Month)).to.equal(undefined);
    expect(await blocksOf("2026-06" as Month)).to.equal(undefined);
    const none = monthBlocks(APRIL, { chain: world.chain, fromBlock: 5, toBlock: 4 });
    expect(await none).to.equal(undefined);
  });

  it("find a month's blocks in a long chain with few requests", async () => {
    const asked: number[] = [];
    const start = monthStart("2027-01" as Month) / 1000;
    // A pause of two weeks, as after a halt of the chain.
    const timeOf = (block: number) => start + 12 * block + (block > 400_000 ? 1_209_600 : 0);
    const chain = {
      block: async (number: number) => {
        asked.push(number);
        return { number, hash: "0x", timestamp: timeOf(number) };
      },
    } as never;
    const found = (await monthBlocks(APRIL, { chain, fromBlock: 0, toBlock: 3_000_000 }))!;
    const margin = MONTH_MARGIN_MS / 1000;
    const [from, to] = [monthStart(APRIL) / 1000 - margin, monthStart(MAY) / 1000 + margin];
    expect(timeOf(found.fromBlock)).to.be.at.least(from);
    expect(timeOf(found.fromBlock - 1)).to.be.lessThan(from);
    expect(timeOf(found.toBlock)).to.be.lessThan(to);
    expect(timeOf(found.toBlock + 1)).to.be.at.least(to);
    expect(asked.length).to.be.lessThan(60);
  });

  it("prove the sum of several months, and what each of them was paid", async () => {
    const checked = await check(document);
    expect(checked).to.include({ total: 1_230n, payments: 3, wallet: WALLET, auditor: AUDITOR });
    expect(
      checked.parts.map(({ month, total, isWholeMonth, isScheduled }) => [month, total, isWholeMonth, isScheduled]),
    ).to.deep.equal([
      [MARCH, 1_200n, true, false],
      [APRIL, 30n, true, false],
    ]);
    expect(checked.missing).to.deep.equal([]);
  });

  it("say that a month is not covered if its blocks are not over, or left out", async () => {
    const may = totalsDocument([{ month: MAY, statement: await prove(MAY) }]);
    expect((await check(may)).parts[0]).to.include({ month: MAY, total: 0n, isWholeMonth: false });
    const { viewingKey, shieldedAddress } = merchant.viewingKeys({ months: [MARCH] }).keys[0]!;
    const { fromBlock, toBlock } = (await blocksOf(MARCH))!;
    for (const blocks of [
      { fromBlock: fromBlock + 1, toBlock },
      { fromBlock, toBlock: toBlock - 1 },
    ]) {
      const statement = await proveTotals({
        ...{ chain: world.chain, chainId: 31337n, pool: POOL, viewingKey, shieldedAddress, wallet: WALLET },
        ...{ ...blocks, auditor: AUDITOR, confirmations: 1 },
      });
      expect((await check(totalsDocument([{ month: MARCH, statement }]))).parts[0]).to.include({ isWholeMonth: false });
    }
  });

  it("are compared with the schedule that the owner signed", async () => {
    const checked = await check(document, [await schedule()]);
    expect(checked.parts.map(({ month, isScheduled }) => [month, isScheduled])).to.deep.equal([
      [MARCH, true],
      [APRIL, true],
    ]);
    expect(checked.missing).to.deep.equal([MAY]);
    // The schedule names the months of statements that name none.
    const unnamed = totalsDocument(document.statements.map(({ statement }) => ({ statement })));
    expect((await check(unnamed, [await schedule()])).parts.map(({ month }) => month)).to.deep.equal([MARCH, APRIL]);
    const short = await check(document, [await schedule({ months: 1 })]);
    expect(short.parts.map(({ isScheduled }) => isScheduled)).to.deep.equal([true, false]);
  });

  it("are rejected if they say another month than the schedule", async () => {
    const [march, april] = document.statements;
    const swapped = totalsDocument([
      { month: APRIL, statement: march!.statement },
      { month: MARCH, statement: april!.statement },
    ]);
    expect((await check(swapped)).total).to.equal(1_230n);
    expect((await rejection(check(swapped, [await schedule()]))).code).to.equal("RECEIPT_INVALID");
    // The address of a third month in the place of April's.
    const other = totalsDocument([{ month: APRIL, statement: await prove("2027-02" as Month) }]);
    const error = await rejection(check(other, [await schedule()]));
    expect([error.code, error.message.includes("2027-04")]).to.deep.equal(["RECEIPT_INVALID", true]);
  });

  it("reject a schedule that the wallet did not sign, or of another owner", async () => {
    const { signature } = await schedule({ months: 1 });
    const forged = { ...(await schedule()), signature };
    expect((await rejection(check(document, [forged]))).code).to.equal("SCHEDULE_INVALID");
    const others = await schedule({ ownerTag: 77n });
    expect((await rejection(check(document, [others]))).code).to.equal("RECEIPT_ELSEWHERE");
  });

  it("are rejected if they are of several owners, auditors or twice of one address", async () => {
    const [march] = document.statements;
    const refused = async (statements: TotalsDocument["statements"], what: string) => {
      const error = await rejection(check(totalsDocument(statements)));
      expect([error.code, error.message]).to.deep.equal([
        "RECEIPT_INVALID",
        `the statements contradict each other: ${what}`,
      ]);
    };
    await refused([march!, march!], "two are of the same address");
    await refused([march!, { ...march!, month: APRIL }], "two are of the same address");
    const april = await prove(APRIL, "Someone else");
    await refused([march!, { month: APRIL, statement: april }], "they name several auditors");
    const stranger = await world.wallet();
    const owner = await prove(APRIL, AUDITOR, stranger);
    await refused([march!, { month: APRIL, statement: owner }], "they name several owners");
    await refused([march!, { month: MARCH, statement: document.statements[1]!.statement }], `two are of ${MARCH}`);
  });

  it("are rejected if one of them is wrong or malformed, and a single statement is still checked", async () => {
    const [march, april] = document.statements;
    const lie = { ...april!, statement: { ...april!.statement, hiddenTotal: "31" } };
    expect((await rejection(check(totalsDocument([march!, lie])))).code).to.equal("RECEIPT_INVALID");
    for (const statements of [[], {}, undefined, [null], [{ ...march!, month: "x" }], new Array(241).fill(march)])
      expect((await rejection(check({ ...document, statements }))).code).to.equal("RECEIPT_MALFORMED");
    for (const month of ["2027-3", 3, null])
      expect((await rejection(check({ ...document, statements: [{ ...march!, month }] }))).code).to.equal(
        "RECEIPT_MALFORMED",
      );
    expect((await rejection(check({ ...document, version: 3 }))).code).to.equal("RECEIPT_MALFORMED");
    expect((await check(march!.statement)).parts[0]).to.include({ month: undefined, total: 1_200n });
  });
});
