import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { monthAt } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { Cli } from "./support/cli.ts";
import { type CliWorld, openCli, openCliWorld } from "./support/world.ts";

interface Entry {
  id: string;
  direction: string;
  amount: string;
  transaction: string;
  block: number;
}

interface Checked {
  statements: { month: string | null; amount: string; shown: { amount: string }[] }[];
  covers: object;
  missing: string[];
  unknown: string[];
}

describe("sotto: receipts, totals, payments, refunds and backups", function () {
  slow(this, "a chain, a service and the command line's processes");
  let world: CliWorld;
  let merchant: Cli & { account: string };
  let payer: Cli & { account: string };
  let addresses: { merchant: string; payer: string };
  /** One payment from change, and one from a deposited note. */
  let paid: { fromDeposit: Entry; fromChange: Entry };

  const addressOf = async (cli: Cli) => (await cli.json<{ shieldedAddress: string }>(["address"])).shieldedAddress;

  before(async () => {
    world = await openCliWorld();
    [merchant, payer] = [await openCli(world, 0n), await openCli(world)];
    addresses = { merchant: await addressOf(merchant), payer: await addressOf(payer) };
    await payer.json(["deposit", "5"]);
    const pay = (amount: string) =>
      payer.json(["send", amount, "--to", addresses.merchant, "--wallet", merchant.account, "--yes"]);
    await pay("1.5");
    // The wallet waits until the change is in the tree and can be spent.
    await pay("0.25");
    const [fromDeposit, fromChange] = await payer.json<Entry[]>(["payments", "--out"]);
    paid = { fromDeposit: fromDeposit!, fromChange: fromChange! };
  });

  it("makes a receipt for one verifier, checks it, and rejects a copy", async () => {
    const file = payer.path("receipt.json");
    const { id, transaction } = paid.fromChange;
    const challenge = "support ticket 4711";
    await payer.json(["receipt", id, "--challenge", challenge, "-o", file]);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const check = ["receipt", "check", file];
    const checked = await merchant.json<Record<string, unknown>>([...check, "--challenge", challenge]);
    expect(checked).to.include({ valid: true, amount: "250000", decimal: "0.25", transaction, challenge });
    expect(checked["recipientAddress"]).to.equal(addresses.merchant);
    expect(await merchant.refused([...check, "--challenge", "another"], 7)).to.equal("RECEIPT_OTHER_CHALLENGE");
    const changed = { ...JSON.parse(readFileSync(file, "utf8")), amount: "250001" };
    const input = JSON.stringify(changed);
    expect(await merchant.refused(["receipt", "check", "-"], 7, { input })).to.equal("RECEIPT_INVALID");
    expect(await merchant.refused(["receipt", "check", "-"], 2, { input: "{" })).to.equal("FILE_UNREADABLE");
    expect(await merchant.refused(["receipt", "check", "-"], 7, { input: "{}" })).to.equal("RECEIPT_MALFORMED");
  });

  it("makes a receipt that shows a deposit only on request", async () => {
    const { id } = paid.fromDeposit;
    expect(await payer.refused(["receipt", id], 3)).to.equal("RECEIPT_SHOWS_DEPOSIT");
    expect(await payer.refused(["receipt", "nothing"], 2)).to.equal("UNKNOWN_PAYMENT");
    const { stdout } = await payer.run(["receipt", id, "--show-deposit"]);
    expect(await merchant.json(["receipt", "check", "-"], { input: stdout })).to.include({ amount: "1500000" });
  });

  it("makes totals for an auditor without a key", async () => {
    const file = merchant.path("totals.json");
    const made = ["totals", "--auditor", "Audit office 2026", "--wallet", merchant.account, "-o", file];
    const { statements } = await merchant.json<{ statements: object[] }>(made);
    expect(statements[0]).to.include({ month: null, hidden: 2, hiddenTotal: "1750000" });
    const auditor = new Cli();
    const { node, deploymentFile } = world;
    await auditor.json(["init", "--deployment", deploymentFile, "--rpc", node.url]);
    const check = ["totals", "check", file];
    const checked = await auditor.json<Checked>([...check, "--auditor", "Audit office 2026"]);
    expect(checked).to.deep.include({ valid: true, amount: "1750000", payments: 2, missing: [] });
    expect(checked.statements[0]).to.deep.include({ month: null, hidden: 2, shown: [], isScheduled: false });
    expect(checked.covers).to.deep.equal({ months: [], lasting: true });
    expect(await auditor.refused([...check, "--auditor", "Someone"], 7)).to.equal("RECEIPT_OTHER_CHALLENGE");
    const lie = JSON.parse(readFileSync(file, "utf8"));
    lie.statements[0].statement.hiddenTotal = "1749999";
    writeFileSync(auditor.path("lie.json"), JSON.stringify(lie));
    expect(await auditor.refused(["totals", "check", auditor.path("lie.json")], 7)).to.equal("RECEIPT_INVALID");
    expect(await merchant.refused(["totals", "--auditor", "me"], 2)).to.equal("USAGE");
    const elsewhere = ["totals", "--auditor", "me", "--wallet", payer.account];
    expect(await merchant.refused(elsewhere, 3)).to.equal("RECEIPT_IMPOSSIBLE");
    const shown = await merchant.run(["totals", "--auditor", "me", "--amounts"]);
    const each = await auditor.json<Checked>(["totals", "check", "-"], { input: shown.stdout });
    expect(each.statements[0]!.shown.map(({ amount }) => amount)).to.deep.equal(["1500000", "250000"]);
  });

  it("lists payments as JSON and CSV", async () => {
    const [first] = await merchant.json<Entry[]>(["payments"]);
    expect(first).to.include({ direction: "in", amount: "1500000", transaction: paid.fromDeposit.transaction });
    const { stdout } = await payer.run(["payments", "--csv"]);
    expect(stdout.split("\r\n")).to.have.length(4);
    expect(stdout).to.match(/^id,direction,state,amount,decimal,/);
    expect(stdout).to.include(`,urn:sotto:send:`);
    const file = payer.path("payments.csv");
    await payer.json(["payments", "--out"]);
    expect((await payer.run(["payments", "--csv", "-o", file])).code).to.equal(0);
    expect(readFileSync(file, "utf8")).to.equal(stdout);
  });

  it("refunds the payer of a receipt once, even after kill -9", async () => {
    const file = payer.path("refund.json");
    await payer.json(["receipt", paid.fromChange.id, "--challenge", `refund to ${addresses.payer}`, "-o", file]);
    const args = ["refund", "--receipt", file, "--yes", "--to"];
    // Someone who steals the receipt cannot redirect the withdrawal to another address.
    expect(await merchant.refused([...args, addresses.merchant], 7)).to.equal("RECEIPT_OTHER_CHALLENGE");
    const { total: before } = await payer.json<{ total: { amount: string } }>(["balance"]);
    const { ended } = merchant.start([...args, addresses.payer, "--verbose"], {
      stop: { at: /settling/, signal: "SIGKILL" },
    });
    expect((await ended).code).to.equal(null);
    const others = [...args, addresses.payer, "--amount", "0.2"];
    expect(await merchant.refused(others, 3)).to.equal("ALREADY_REFUNDED");
    const done = await merchant.json<{ amount: string; payment: string }>([...args, addresses.payer]);
    expect(done.amount).to.equal("250000");
    expect(await merchant.refused([...args, addresses.payer], 3)).to.equal("ALREADY_REFUNDED");
    const named = ["refund", done.payment, "--to", addresses.payer, "--amount", "0.01", "--yes"];
    expect(await merchant.refused(named, 3)).to.equal("ALREADY_REFUNDED");
    const { total: after } = await payer.json<{ total: { amount: string } }>(["balance"]);
    expect(BigInt(after.amount) - BigInt(before.amount)).to.equal(250_000n);
    expect(await payer.refused(args.concat(addresses.payer), 3)).to.equal("REFUSED");
    expect(await merchant.refused(["refund", "0x12:7", "--to", addresses.payer, "--yes"], 2)).to.equal("USAGE");
  });

  it("refunds a payment to the address of a month", async () => {
    const month = monthAt(Date.now());
    const { shieldedAddress } = await merchant.json<{ shieldedAddress: string }>(["address", "--month", month]);
    await payer.json(["send", "0.125", "--to", shieldedAddress, "--wallet", merchant.account, "--yes"]);
    const entries = await payer.json<Entry[]>(["payments", "--out"]);
    const { id } = entries.find(({ amount }) => amount === "125000")!;
    const file = payer.path("month.json");
    await payer.json(["receipt", id, "--challenge", `refund to ${addresses.payer}`, "-o", file]);
    const refund = ["refund", "--receipt", file, "--to", addresses.payer, "--yes"];
    expect(await payer.refused(refund, 3)).to.equal("REFUSED");
    expect(await merchant.json(refund)).to.include({ amount: "125000", recipientAddress: addresses.payer });
  });

  describe("backups", () => {
    const secret = { env: { SOTTO_PASSPHRASE: "correct horse battery staple" } };
    let file: string;

    it("contain the key and the journal, and open with the passphrase", async () => {
      file = payer.path("backup.json");
      expect(await payer.refused(["export", "-o", file], 9)).to.equal("KEY_MISSING");
      expect(await payer.refused(["export", "-o", file], 2, { env: { SOTTO_PASSPHRASE: "short" } })).to.equal("USAGE");
      await payer.json(["export", "-o", file], secret);
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      const text = readFileSync(file, "utf8");
      const words = readFileSync(join(payer.home, "seed"), "utf8").trim().split(" ");
      // Only the values: the names of four fields are words of the list too.
      const values = (of: unknown): string[] =>
        typeof of === "object" && of !== null ? Object.values(of).flatMap(values) : [String(of)];
      const kept = new Set(values(JSON.parse(text)).flatMap((value) => value.split(/\W+/)));
      expect(words.filter((word) => kept.has(word))).to.deep.equal([]);
      expect(await payer.refused(["export", "-o", file], 2, secret)).to.equal("FILE_EXISTS");
    });

    it("restore data that is not on chain, so that receipts for old payments can still be made", async () => {
      const restored = new Cli();
      await restored.json(["restore", file], secret);
      expect(statSync(join(restored.home, "seed")).mode & 0o777).to.equal(0o600);
      const { stdout } = await restored.run(["receipt", paid.fromChange.id]);
      expect(await merchant.json(["receipt", "check", "-"], { input: stdout })).to.include({ valid: true });
      expect(await restored.refused(["restore", file], 2, secret)).to.equal("WALLET_EXISTS");
    });

    it("are rejected with a wrong passphrase or a changed byte", async () => {
      const wrong = new Cli();
      const env = { SOTTO_PASSPHRASE: "another passphrase" };
      expect(await wrong.refused(["restore", file], 7, { env })).to.equal("BACKUP_INVALID");
      const backup = JSON.parse(readFileSync(file, "utf8")) as { data: string; kdf: object };
      const bytes = Buffer.from(backup.data, "base64");
      bytes[9]! ^= 1;
      for (const change of [
        { data: bytes.toString("base64") },
        { data: "" },
        { kdf: { ...backup.kdf, N: 2 ** 30 } },
        { version: 2 },
      ]) {
        const input = JSON.stringify({ ...backup, ...change });
        expect(await wrong.refused(["restore", "-"], 7, { ...secret, input })).to.equal("BACKUP_INVALID");
      }
    });

    it("show a seed's words only on request", async () => {
      expect(await payer.refused(["export", "--words"], 3)).to.equal("NOT_CONFIRMED");
      const { words } = await payer.json<{ words: string }>(["export", "--words", "--show-secret"]);
      expect(words).to.equal(readFileSync(join(payer.home, "seed"), "utf8").trim());
    });
  });
});
