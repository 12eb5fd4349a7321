import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex } from "@sotto/protocol";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import { DeadHome, type Ended } from "../../../cli-kit/test/support/run.ts";
import { prepaidCommands } from "../../src/cli.ts";
import {
  type ChargeReceipt,
  formatReceipt,
  formatTermsAnswer,
  type MeteredTerms,
  meteredTermsTypedData,
  type SignedMeteredTerms,
  signReceipt,
} from "../../src/index.ts";
import { RECEIPT, RECEIPT_SECRETS, RULE, termsOf } from "../core/metered/support/samples.ts";

describe("sotto prepaid check-receipt", () => {
  const account = Account.createRandom();
  const wallet = account.address.toLowerCase() as `0x${string}`;
  const keys = RECEIPT_SECRETS.map((secret) => bytesToHex(ed25519.getPublicKey(secret)));
  let home: DeadHome;
  before(() => {
    home = new DeadHome([prepaidCommands]);
  });

  async function signed(change: Partial<MeteredTerms> = {}): Promise<SignedMeteredTerms> {
    const terms = termsOf(keys, { wallet, ...change });
    const { domain, types, message } = meteredTermsTypedData(terms);
    return { terms, signature: await account.signTypedData(domain, types, message) };
  }
  const termsFile = async (name: string, ...terms: SignedMeteredTerms[]) =>
    home.write(name, formatTermsAnswer(terms.length > 0 ? terms : [await signed()]));
  const receiptFile = (name: string, change: Partial<ChargeReceipt> = {}, secret = RECEIPT_SECRETS[0]) =>
    home.write(name, formatReceipt(signReceipt({ ...RECEIPT, wallet, ...change }, secret)));
  const check = (...args: string[]) => home.run(["prepaid", "check-receipt", "--json", ...args]);
  const errorOf = ({ stderr }: Ended) => JSON.parse(stderr.trim().split("\n").at(-1)!).error;

  it("accepts a receipt whose charge follows from the signed rule, without a network", async () => {
    const ended = await check(receiptFile("good.json"), "--terms", await termsFile("terms.json"));
    expect(ended.code, ended.stderr).to.equal(0);
    const { valid, receipts } = JSON.parse(ended.stdout);
    expect([valid, receipts[0].charge.amount, receipts[0].units]).to.deep.equal([
      true,
      "3000",
      { input: "1200", output: "4500" },
    ]);
    const text = await home.run([
      "prepaid",
      "check-receipt",
      receiptFile("good.json"),
      "--terms",
      await termsFile("terms.json"),
    ]);
    expect(text.stdout).to.match(/^1 receipt checked: signed, and charged by the signed rules; the sum is /);
    const counted = ["--units", "input=1200", "--units", "output=4500"];
    const again = await check(receiptFile("good.json"), "--terms", await termsFile("terms.json"), ...counted);
    expect(again.code).to.equal(0);
  });

  it("names what is wrong, and ends with exit code 7", async () => {
    const terms = ["--terms", await termsFile("terms.json")];
    const cases: readonly [args: readonly string[], text: string][] = [
      [[receiptFile("dear.json", { charge: 3100n, change: 6900n }), ...terms], "does not follow from its rule"],
      [[receiptFile("rule.json", { target: "/files/1", method: "GET" }), ...terms], "names another rule"],
      [[receiptFile("other.json", {}, RECEIPT_SECRETS[1]), ...terms], "not signed by a receipt key"],
      [[receiptFile("good.json"), ...terms, "--units", "output=4500"], "counts other units than you: input"],
    ];
    for (const [args, text] of cases) {
      const ended = await check(...args);
      expect([ended.code, errorOf(ended).code], text).to.deep.equal([7, "PREPAID_RECEIPT_CONTRADICTED"]);
      expect(errorOf(ended).message).to.include(text);
    }
  });

  it("compares receipts, and the payer's own count with one of them only", async () => {
    const [one, other] = [
      receiptFile("good.json"),
      receiptFile("other.json", { units: { input: 1200n }, charge: 300n, change: 9700n }),
    ];
    const terms = ["--terms", await termsFile("terms.json")];
    for (const file of [one, other]) expect((await check(file, ...terms)).code).to.equal(0);
    const both = await check(one, "--against", other, ...terms);
    expect([both.code, errorOf(both).message]).to.deep.equal([
      7,
      "the merchant signed two different receipts for one token",
    ]);
    expect((await check(one, "--against", one, ...terms)).code).to.equal(0);
    for (const args of [
      ["--against", other, ...terms],
      [one, "--against", other, ...terms, "--units", "input=1200"],
    ])
      expect(errorOf(await check(...args)).code).to.equal("USAGE");
  });

  it("names each kind of contradiction once", async () => {
    const dear = { charge: 3100n, change: 6900n };
    const [one, other] = [
      receiptFile("dear.json", dear),
      receiptFile("next.json", { ...dear, token: `0x${"12".repeat(32)}` }),
    ];
    const ended = await check(one, "--against", other, "--terms", await termsFile("terms.json"));
    expect(errorOf(ended).message).to.equal("the charge of a receipt does not follow from its rule and units");
  });

  it("names two signed rules for one month", async () => {
    const routes = [{ method: "POST", path: "/v1/chat", rule: { ...RULE, base: 200n } }];
    const terms = await termsFile("both.json", await signed(), await signed({ routes }));
    const ended = await check(receiptFile("good.json"), "--terms", terms);
    expect(errorOf(ended).message).to.include("two rules for the same requests and month");
  });

  it("refuses terms that their wallet did not sign", async () => {
    const [mine, other] = [await signed(), await signed({ firstEpoch: "2027-01" })];
    const terms = await termsFile("forged.json", { ...mine, signature: other.signature });
    expect(errorOf(await check(receiptFile("good.json"), "--terms", terms)).message).to.include("are not signed");
  });
});
