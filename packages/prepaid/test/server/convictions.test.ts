// What `sotto prepaid check-receipt` says about merchants: it convicts three dishonest ones by what they signed, and never an honest
// one, also if its servers fail.
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { serialize } from "node:v8";
import type { Outcome } from "@sotto/resource-server";
import { BASE_ENVIRONMENT } from "@sotto/test-kit/environment";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { Wallet as Account } from "ethers";
import type { UpdateObject } from "kysely";
import { DeadHome } from "../../../cli-kit/test/support/run.ts";
import { prepaidCommands } from "../../src/cli.ts";
import {
  formatReceipt,
  formatTermsAnswer,
  type MeteredTerms,
  meteredRuleHash,
  meteredTermsTypedData,
  PREPAID_CHANGE_PATH,
  parseChangeAnswer,
  type SignedMeteredTerms,
  type SignedReceipt,
} from "../../src/index.ts";
import { metered } from "../../src/server/metered/price.ts";
import type { PrepaidSchema } from "../../src/server/schema.ts";
import { createMerchant, openServer, type PrepaidServer } from "./support/merchant.ts";
import {
  blindChange,
  buy,
  CAP,
  claim,
  claimBody,
  claimed,
  end,
  METERED_VALUES,
  meteredOptions,
  type Owned,
  post,
  RULE,
  showMetered,
  spendMetered,
  startMetered,
  TERMS,
} from "./support/metered.ts";
import type { DyingOrder } from "./support/metered-process.ts";
import { inDatabase, overStores } from "./support/store.ts";

const account = Account.createRandom();
const wallet = account.address.toLowerCase() as `0x${string}`;
const merchant = await createMerchant({ wallet }, METERED_VALUES);

async function sign(change: Partial<MeteredTerms> = {}): Promise<SignedMeteredTerms> {
  const terms = { ...TERMS, wallet, ...change };
  const { domain, types, message } = meteredTermsTypedData(terms);
  return { terms, signature: await account.signTypedData(domain, types, message) };
}
const signed = await sign();

overStores("a merchant that is checked by its receipts", (newUrl) => {
  let url: string;
  let folder: string;
  let home: DeadHome;
  const opened: PrepaidServer[] = [];
  const open = async (terms = [signed], changes: object = {}) => {
    const options = meteredOptions(merchant, url, join(folder, `guard-${opened.length}`), terms);
    const server = await openServer({ ...options, ...changes });
    opened.push(server);
    return server;
  };
  const close = async () => {
    for (const one of opened.splice(0)) await one.close();
  };
  /** Changes a row behind the server. */
  const change = async ({ token }: Owned, values: UpdateObject<PrepaidSchema, "prepaid_metered">) => {
    const nonce = Buffer.from(token.nonce.slice(2), "hex").toString("base64url");
    await inDatabase(url, (db) => db.updateTable("prepaid_metered").set(values).where("nonce", "=", nonce).execute());
  };
  beforeEach(async () => {
    url = await newUrl();
    folder = temporaryFolder("convictions");
    home = new DeadHome([prepaidCommands]);
  });
  afterEach(close);

  /** The answer of the command: "honest", or what it names. */
  async function check(receipts: readonly SignedReceipt[], terms: readonly SignedMeteredTerms[], ...more: string[]) {
    const files = receipts.map((receipt, i) => home.write(`receipt-${i}.json`, formatReceipt(receipt)));
    const against = files.slice(1).flatMap((file) => ["--against", file]);
    const shown = home.write("terms.json", formatTermsAnswer(terms));
    const args = ["prepaid", "check-receipt", files[0]!, ...against, "--terms", shown, "--json", ...more];
    const { code, stdout, stderr } = await home.run(args);
    if (code === 0) {
      expect(JSON.parse(stdout).receipts).to.have.length(receipts.length);
      return "honest";
    }
    const { error } = JSON.parse(stderr.trim().split("\n").at(-1)!);
    expect([code, error.code], stderr).to.deep.equal([7, "PREPAID_RECEIPT_CONTRADICTED"]);
    return String(error.message);
  }
  /** The receipt of a request that used 1,500 of input, which costs 2,000. */
  async function receiptOf(server: PrepaidServer, owned: Owned) {
    await spendMetered(server, owned, { input: 1_500 });
    return (await claimed(server, owned)).receipt;
  }

  it("is convicted if it charges more than its rule demands", async () => {
    const server = await open();
    const [honest, dear, counted] = await buy(server, 3);
    await spendMetered(server, dear!, { input: 1_500 });
    await spendMetered(server, counted!, { input: 1_500 });
    await change(dear!, { charge: "4000" });
    await change(counted!, { charge: "4000", units: JSON.stringify({ input: "3500" }) });
    const good = await receiptOf(server, honest!);
    const [over, more] = [(await claimed(server, dear!)).receipt, (await claimed(server, counted!)).receipt];
    expect(over.receipt).to.include({ charge: 4_000n, change: 6_000n });
    expect(await check([over], [signed])).to.include("charge of a receipt does not follow from its rule");
    expect(await check([good, over], [signed])).to.include("charge of a receipt does not follow from its rule");
    // More units than there were: only the payer knows how many there were.
    expect(await check([more], [signed])).to.equal("honest");
    expect(await check([more], [signed], "--units", "input=1500")).to.include("counts other units than you: input");
    expect(await check([good], [signed], "--units", "input=1500")).to.equal("honest");
  });

  it("is convicted if it signs two receipts for one token", async () => {
    const server = await open();
    const [owned, other] = await buy(server, 2);
    const first = await receiptOf(server, owned!);
    await change(owned!, { receipt: null, charge: "4000", units: JSON.stringify({ input: "3500" }) });
    const second = (await claimed(server, owned!)).receipt;
    for (const one of [first, second]) expect(await check([one], [signed])).to.equal("honest");
    expect(await check([first, second], [signed])).to.include("two different receipts for one token");
    expect(await check([first, await receiptOf(server, other!)], [signed])).to.equal("honest");
    expect(await check([first, first], [signed])).to.equal("honest");
  });

  it("is convicted if it signs two rules for one route and month, one for each payer", async () => {
    const [route] = TERMS.routes;
    const dear = { ...RULE, base: 1_500n };
    const other = await sign({ routes: [{ ...route!, rule: dear }] });
    const server = await open();
    const [one, two] = await buy(server, 2);
    const cheap = await receiptOf(server, one!);
    await close();
    const price = metered({
      ...{ cap: CAP, grain: RULE.grain, base: dear.base },
      units: { output: { price: 600n, per: 1_000 }, input: { price: 1n } },
    });
    const changed = await open([other], { routes: [{ path: "/chat", method: "POST", price }] });
    const shown = await showMetered(changed, two!, { rule: [meteredRuleHash(dear)] });
    if (shown.kind !== "paid" || shown.payment.kind !== "metered") throw new Error(shown.kind);
    shown.payment.meter.add({ input: 1_500 });
    await end(shown);
    const expensive = (await claimed(changed, two!)).receipt;
    expect([cheap, expensive].map(({ receipt }) => receipt.charge)).to.deep.equal([2_000n, 3_000n]);
    expect(await check([cheap], [signed])).to.equal("honest");
    expect(await check([expensive], [other])).to.equal("honest");
    expect(await check([cheap], [signed, other])).to.include("two rules for the same requests and month");
    expect(await check([expensive], [signed])).to.include("names another rule than the signed terms");
  });

  it("is not convicted by what a payer wrote itself", async () => {
    const server = await open();
    const [owned] = await buy(server, 1);
    const good = await receiptOf(server, owned!);
    const forged = { ...good, receipt: { ...good.receipt, charge: 4_000n, change: 6_000n } };
    const said = await check([good, forged], [signed]);
    expect(said).to.include("not signed by a receipt key of the terms: 1 receipt");
    expect(said).to.not.match(/does not follow|two different/);
  });

  const children = new Set<ChildProcess>();
  after(() => {
    for (const child of children) child.kill("SIGKILL");
  });
  /** Serves requests in another process, which dies when its order says. */
  async function servedUntilDeath(order: DyingOrder): Promise<void> {
    const child = fork(join(import.meta.dirname, "support", "metered-process.ts"), [], {
      env: { ...BASE_ENVIRONMENT, DYING_ORDER: serialize(order).toString("base64") },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    children.add(child);
    const signal = await new Promise((resolve) => child.once("exit", (_, name) => resolve(name)));
    children.delete(child);
    expect(signal).to.equal("SIGKILL");
  }

  it("is not convicted if it is honest: with two servers, failures, a late stream and kill -9 at a claim", async () => {
    const [first, second] = [await open(), await open()];
    const receipts: SignedReceipt[] = [];
    const tokens: Owned[] = [];
    // Requests that end in every way, served and claimed by both servers at once.
    const ends: readonly Outcome[] = [200, 404, 500, 503, "aborted", "unstarted"];
    for (const [i, owned] of (await buy(first, 12)).entries()) {
      const server = i % 2 === 0 ? first : second;
      const { decision, meter } = await startMetered(server, owned);
      meter.add({ input: 900 * i, output: 77 * i });
      if (i % 3 === 0) await meter.checkpoint();
      if (ends[i % 6] === 503) meter.keep();
      await end(decision, ends[i % 6]);
      tokens.push(owned);
    }
    // A late stream: its deadline passes between its checkpoint and its end.
    const [late] = await buy(first, 1);
    const { decision, meter } = await startMetered(first, late!);
    meter.add({ input: 1_500 });
    await meter.checkpoint();
    meter.add({ input: 3_000 });
    await change(late!, { deadline: 1 });
    const early = (await claimed(second, late!)).receipt;
    await end(decision);
    expect(early.receipt).to.deep.include({ charge: 2_000n, units: { input: 1_500n } });
    receipts.push(early);
    tokens.push(late!);
    // Servers that are killed between the charge and the receipt, and between the receipt and the answer.
    const killed = async (dies: DyingOrder["dies"]) => {
      const owned = await buy(first, 3);
      const body = claimBody(owned[2]!, blindChange(first, 2_000n).batch);
      const guard = join(folder, `guard-${dies}`);
      await servedUntilDeath({ merchant, terms: [signed], store: url, guard, tokens: owned, claim: body, dies });
      tokens.push(...owned);
      return body;
    };
    for (const body of await Promise.all((["claiming", "claimed"] as const).map(killed)))
      for (const server of [first, second]) {
        const { status, text } = await post(server, PREPAID_CHANGE_PATH, body);
        expect(status).to.equal(200);
        receipts.push(parseChangeAnswer(text).receipt);
      }
    const claims = tokens.flatMap((owned) => [claim(first, owned), claim(second, owned)]);
    for (const { status, text } of await Promise.all(claims)) {
      expect(status).to.equal(200);
      receipts.push(parseChangeAnswer(text).receipt);
    }
    const charges = new Set(receipts.map(({ receipt }) => receipt.charge));
    expect(charges.size, "charges differ").to.be.greaterThan(4);
    expect(new Set(receipts.map(formatReceipt)).size, "one receipt for each token").to.equal(tokens.length);
    // The rule of the next months is another one.
    const next = await sign({ firstEpoch: "2027-02", routes: [{ ...TERMS.routes[0]!, rule: { ...RULE, base: 0n } }] });
    expect(await check(receipts, [signed, next])).to.equal("honest");
    const trouble = first.events.flatMap(({ event, error }) => (event === "trouble" ? [String(error)] : []));
    expect(trouble).to.have.length(1);
    expect(trouble[0]).to.include("its last checkpoint counts");
  });
});
