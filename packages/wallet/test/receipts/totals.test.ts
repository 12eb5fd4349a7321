import { POOL } from "@sotto/test-chain/pool";
import { rejection } from "@sotto/test-kit/rejection";
import { proveTotals } from "@sotto/wallet/receipts";
import { expect } from "chai";
import { nodeOf, nodesOf } from "../support/several-nodes.ts";
import { AMOUNTS, AUDITOR, lastingKey, openTotals, type TotalsWorld } from "../support/totals.ts";
import { MERCHANT } from "../support/world.ts";

describe("totals", () => {
  let world: TotalsWorld["world"];
  let merchant: TotalsWorld["merchant"];
  let statement: TotalsWorld["statement"];
  let prove: TotalsWorld["prove"];
  let check: TotalsWorld["check"];
  let refused: TotalsWorld["refused"];
  before(async () => {
    ({ world, merchant, statement, prove, check, refused } = await openTotals());
  });

  it("prove the sum paid to the address, and hide the amounts except those paid under another wallet address", async () => {
    const checked = await check(statement);
    expect(checked).to.deep.include({ total: 4_421n, payments: 4, hidden: 3, others: 1, auditor: AUDITOR });
    expect(checked.shown.map(({ amount }) => amount)).to.deep.equal([77n]);
    expect(statement.hiddenTotal).to.equal("4344");
    for (const amount of AMOUNTS) expect(JSON.stringify(statement)).to.not.include(`"${amount}"`);
  });

  it("reveal no amount without consent", async () => {
    const error = await rejection(prove({ showRest: false }));
    expect([error.code, error.details["payments"]]).to.deep.equal(["RECEIPT_IMPOSSIBLE", 1]);
    const unknown = await rejection(prove({ showRest: false, signals: async () => undefined }));
    expect(unknown.details["payments"]).to.equal(4);
    // If the source of signals lies, no proof is made, because the digests differ.
    const lying = await rejection(prove({ showRest: false, signals: async () => new Array<bigint>(10).fill(1n) }));
    expect(lying.details["payments"]).to.equal(4);
  });

  it("request the signals of all payments, to hide from their source which ones are the merchant's", async () => {
    const asked: string[] = [];
    const signals = async ({ digest }: { digest: string }) => {
      asked.push(digest);
      return undefined;
    };
    await prove({ signals });
    const ofMerchant = asked.splice(0);
    await prove({ signals, ...lastingKey(await world.wallet()) });
    expect(ofMerchant).to.have.length(AMOUNTS.length + 2);
    expect(asked).to.deep.equal(ofMerchant);
  });

  it("need no calldata if amounts are shown", async () => {
    const { signals: _, ...shown } = { signals: undefined };
    const open = await proveTotals({
      ...shown,
      chain: world.chain,
      chainId: 31337n,
      pool: POOL,
      ...lastingKey(merchant),
      wallet: MERCHANT,
      auditor: AUDITOR,
      fromBlock: 0,
      toBlock: world.chain.blocks.length - 1,
      confirmations: 1,
    });
    const checked = await check(open);
    expect(checked.total).to.equal(4_421n);
    expect(checked.shown.map(({ amount }) => amount)).to.deep.equal([...AMOUNTS, 77n]);
  });

  it("are zero for blocks without payments, and cover only the given blocks", async () => {
    expect(await check(await prove({ toBlock: 1 }))).to.deep.include({ total: 0n, payments: 0, others: 0 });
    const last = world.chain.blocks.length - 1;
    const part = await prove({ fromBlock: last - 2, toBlock: last - 1 });
    expect(await check(part)).to.deep.include({ total: 999n, payments: 1, others: 1 });
  });

  it("do not reveal the viewing key, and differ every time", async () => {
    const { viewingKey } = lastingKey(merchant);
    const again = await prove();
    expect(again.proof).to.not.deep.equal(statement.proof);
    for (const text of [JSON.stringify(statement), JSON.stringify(again)])
      expect(text).to.not.match(new RegExp(`${viewingKey}|${viewingKey.toString(16)}`));
  });

  it("require enough confirmations and an unchanged chain", async () => {
    const later = check(statement, { confirmations: 2 });
    expect((await rejection(later)).code).to.equal("RECEIPT_NOT_SETTLED");
    expect((await rejection(prove({ toBlock: 10_000 }))).code).to.equal("RECEIPT_NOT_SETTLED");
    expect((await rejection(prove({ fromBlock: 5, toBlock: 4 }))).code).to.equal("RECEIPT_MALFORMED");
    await refused({ blockHash: `0x${"00".repeat(32)}` }, "RECEIPT_NOT_SETTLED");
  });

  it("are read from a single node that has the confirmations", async () => {
    const { chain } = world;
    const honest = nodeOf(chain);
    const empty = nodeOf(chain, { logs: async () => [] });
    const from = { toBlock: statement.toBlock - 2, confirmations: 3 };
    const short = nodeOf(empty, { block: async (n: number) => (n > from.toBlock ? undefined : chain.block(n)) });
    const expected = (await prove(from)).hidden;
    expect(expected).not.to.deep.equal([]);
    for (const nodes of [
      [honest, empty],
      [short, honest],
    ])
      expect((await prove({ ...from, chain: nodesOf(...nodes) })).hidden).to.deep.equal(expected);
  });

  it("are rejected with a missing or malformed field", async () => {
    for (const change of [
      { version: 2 },
      { auditor: "a\nb" },
      { hidden: {} },
      { shared: [null] },
      { hidden: [{ leafIndex: 1 }] },
      { hiddenTotal: "01" },
      { hiddenTotal: "-1" },
      { shared: new Array(20_001).fill({}) },
      { blockHash: "0x" },
      { chainId: 31337 },
    ])
      await refused(change as never, "RECEIPT_MALFORMED");
    for (const value of [null, [], 42, "x"]) expect((await rejection(check(value))).code).to.equal("RECEIPT_MALFORMED");
  });
});
