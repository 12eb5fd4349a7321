import { type ChargeEntry, oldestFirst, type PaymentEntry, paymentsCsv } from "@sotto/wallet/receipts";
import { expect } from "chai";
import { start } from "../support/merchant.ts";
import { MERCHANT, URL } from "../support/world.ts";

const entry: PaymentEntry = {
  kind: "payment",
  id: "1",
  direction: "out",
  state: "settled",
  amount: 1n,
  decimal: "0.000001",
  recipientWallet: MERCHANT,
  recipientAddress: "0x",
  month: "",
  outsideMonth: false,
  resource: URL,
  transaction: "0x",
  block: 1,
  begun: "",
  settled: "",
};

describe("payment list", () => {
  it("lists outgoing payments with their resource, and incoming ones", async () => {
    const { world, payer, merchant, request } = await start([5_000n, 1_700n]);
    const payment = await payer.pay(request);
    world.settle(payment);
    const lost = await payer.pay({ ...request, amount: 400n });
    await payer.scan();
    await merchant.scan();
    const [settled, open] = await payer.payments({ decimals: 6 });
    const { transactionHash, blockNumber } = payer.status(payment.id);
    expect(settled).to.deep.include({
      id: payment.id,
      direction: "out",
      state: "settled",
      amount: 1_000n,
      decimal: "0.001",
      recipientWallet: MERCHANT,
      recipientAddress: merchant.shieldedAddress,
      resource: URL,
      transaction: transactionHash,
      block: blockNumber,
      settled: new Date(world.chain.blocks[blockNumber!]!.timestamp * 1000).toISOString(),
    });
    expect(open).to.deep.include({ id: lost.id, state: "open", transaction: "", block: undefined, settled: "" });
    const [received, ...more] = await merchant.payments({ decimals: 6 });
    expect(more).to.deep.equal([]);
    expect(received).to.deep.include({ direction: "in", amount: 1_000n, transaction: transactionHash, resource: "" });
    expect(await payer.payments({ decimals: 6, direction: "in" })).to.deep.equal([]);
    expect(await payer.payments({ decimals: 6, direction: "out" })).to.have.length(2);
  });

  it("exports CSV according to RFC 4180", () => {
    const csv = paymentsCsv([{ ...entry, resource: 'https://data.example/a,"b"\r\nc' }]);
    expect(csv.startsWith("id,direction,state,amount,decimal,")).to.equal(true);
    expect(csv).to.include('"https://data.example/a,""b""\r\nc"');
    expect(csv.endsWith("\r\n")).to.equal(true);
    expect(paymentsCsv([])).to.match(/^[^\r\n]+\r\n$/);
  });

  it("keeps charges apart from payments: each has a column of its own, and columns of before stay", () => {
    const charge: ChargeEntry = {
      ...{ kind: "charge", id: "2", charge: 3_000n, chargeDecimal: "0.003" },
      ...{ recipientWallet: MERCHANT, resource: URL, begun: "2026-12-01T00:00:00.000Z" },
    };
    const paid = { ...entry, begun: "2026-12-02T00:00:00.000Z" };
    const [head, first, second] = paymentsCsv([paid, charge].sort(oldestFirst)).split("\r\n");
    const before =
      "id,direction,state,amount,decimal,recipientWallet,recipientAddress,resource,transaction,block,begun,settled,month";
    expect(head).to.equal(`${before},kind,charge,chargeDecimal`);
    expect(first).to.equal(`2,,,,,${MERCHANT},,${URL},,,${charge.begun},,,charge,3000,0.003`);
    expect(second).to.equal(`1,out,settled,1,0.000001,${MERCHANT},0x,${URL},0x,1,${paid.begun},,,payment,,`);
  });

  it("escapes formulas in resource names", () => {
    const attacks = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1", "|calc", "%00=", "\uFEFF=HYPERLINK()"];
    // Full-width characters, which spreadsheets in some languages treat like = and +.
    attacks.push("\uff1d1+1", "\uff0b1", "\uff0d1", "\uff20SUM(A1)");
    for (const resource of attacks) {
      const line = paymentsCsv([{ ...entry, resource }])
        .split("\r\n")
        .slice(1)
        .join("\r\n");
      expect(line, resource).to.match(/,"?'/);
    }
    expect(paymentsCsv([entry])).to.not.include("'");
  });
});
