// `sotto payments` after requests of metered routes: charges beside payments, from the wallet's own store.
import { readFileSync } from "node:fs";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { slow } from "@sotto/test-kit/slow";
import { type MeteredServer, openMeteredServer } from "@sotto/test-world/metered-server";
import { expect } from "chai";
import type { Cli } from "./support/cli.ts";
import { openCli, openCliWorld } from "./support/world.ts";

/** Base units of 100 tokens, each worth the most that a request costs. */
const PACK = 1_000_000n;

interface Entry {
  kind: string;
  amount?: string;
  charge?: string;
}

describe("sotto payments: charges of metered requests", function () {
  slow(this, "a chain, a service and the command line's processes");
  let payer: Cli & { account: string };
  let server: MeteredServer;
  /** The CSV's rows by the names of its columns. */
  let rows: Record<string, string>[];
  before(async () => {
    await clearOfMidnight();
    const world = await openCliWorld();
    payer = await openCli(world);
    server = await openMeteredServer({ ...world, serviceUrl: world.service.url });
    await payer.json(["deposit", "2"]);
    await payer.json(["prepaid", "buy", `${server.url}/words/3`, "--max", "0.01"]);
    for (const words of [3, 99]) await payer.json(["request", `${server.url}/words/${words}`, "--max", "0.01"]);
    await payer.json(["prepaid", "merge"]);
    const { stdout } = await payer.run(["payments", "--csv"]);
    const [head, ...lines] = stdout.trimEnd().split("\r\n");
    const columns = head!.split(",");
    rows = lines.map((line) => Object.fromEntries(line.split(",").map((cell, i) => [columns[i], cell])));
  });
  after(() => server?.close());

  const sum = (column: string) => rows.reduce((total, row) => total + BigInt(row[column]!), 0n);

  it("have a row each in the CSV, after the payment for their tokens", () => {
    expect(rows.map(({ kind }) => kind)).to.deep.equal(["payment", "charge", "charge"]);
    const [payment, charge] = rows;
    expect(payment).to.include({ direction: "out", state: "settled", amount: String(PACK), charge: "" });
    const recipientWallet = payment!["recipientWallet"];
    expect(charge).to.include({ recipientWallet, resource: `${server.url}/words/3`, charge: "3000" });
    expect(charge).to.include({ chargeDecimal: "0.003", direction: "", state: "", amount: "", decimal: "" });
    expect(charge!["begun"]).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it("do not count twice: each sum is that of its column", async () => {
    expect([sum("amount"), sum("charge")]).to.deep.equal([await server.received(), 13_000n]);
    expect(await server.received()).to.equal(PACK);
  });

  it("are in the JSON and the list, but not among incoming payments", async () => {
    const entries = await payer.json<Entry[]>(["payments", "--out"]);
    const shown = entries.map(({ kind, amount, charge }) => [kind, amount, charge]);
    expect(shown).to.deep.equal([
      ["payment", "1000000", undefined],
      ["charge", undefined, "3000"],
      ["charge", undefined, "10000"],
    ]);
    expect(await payer.json(["payments", "--in"])).to.deep.equal([]);
    const { stdout } = await payer.run(["payments"]);
    expect(stdout).to.match(/Z {2}out +1 USDC {6}settled .*\n.*Z {2}charge {2}0\.003 USDC .*words\/3\n.*0\.01 USDC/);
    const file = payer.path("payments.csv");
    const written = await payer.run(["payments", "--csv", "--output", file]);
    expect(written.stdout).to.equal(`1 payment and 2 charges written to ${file}\n`);
    expect(readFileSync(file, "utf8").split("\r\n")).to.have.length(5);
  });
});
