// The keys of one month, tried on everything that a wallet did in three months, with every command and program that takes keys.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodeEvent, type PoolEvent } from "@sotto/chain";
import { wrapFetch } from "@sotto/client";
import { toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { addMonths, decryptChange, formatViewingKeys, type Month, scanNotes, type ViewingKeys } from "@sotto/protocol";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { fund, until } from "@sotto/test-world/wallets";
import { connectChain, NoteScanner, sendCall, settleCall, viewingScanKeys, type Wallet } from "@sotto/wallet";
import { expect } from "chai";
import { Cli } from "../cli/support/cli.ts";
import { initArguments } from "../cli/support/world.ts";
import { Merchant, openServer, PRICE } from "./support/merchant.ts";
import { APRIL, FEBRUARY, MARCH, type MonthWorld, middleOf, openMonthWorld } from "./support/world.ts";

const RESOURCE = "https://data.example/report";
const ACCOUNT = `0x${"ab".repeat(20)}`;
/** What the merchant's address of each month is paid, base units. */
const INCOME = new Map([
  [FEBRUARY, 100_000n],
  [MARCH, 200_000n],
  [APRIL, 400_000n],
]);
const MONTHS = [...INCOME.keys()];
/** What the lasting address is paid each month, and what the merchant spends. */
const [LASTING, SPENT] = [1_000_000n, 30_000n];

describe("the keys of a month", function () {
  slow(this, "a chain, a service and three months");
  let world: MonthWorld;
  let merchant: Merchant;
  let payer: Wallet;
  let events: PoolEvent[];
  /** The newest block. */
  let newest: number;
  const reader = new Cli();

  async function settle(from: Wallet, shieldedAddress: string, amount: bigint): Promise<void> {
    const { settle: bundle } = await from.pay({
      recipient: { wallet: ACCOUNT, shieldedAddress },
      amount,
      resourceUrl: RESOURCE,
    });
    await sendCall(world.depositor, settleCall(world.pool, [bundle]));
  }

  /** In this month, the merchant is paid at the month's address and at the lasting one, and pays somebody. */
  async function live(month: Month, owner: Wallet): Promise<void> {
    await world.travel(middleOf(month));
    for (const [address, amount] of [
      [owner.addressOfMonth(month), INCOME.get(month)!],
      [owner.shieldedAddress, LASTING],
    ] as const) {
      const before = owner.balance().spendable;
      await until(() => payer.scan().then(() => payer.balance().spendable > 2n * LASTING));
      await settle(payer, address, amount);
      await until(() => owner.scan().then(() => owner.balance().spendable > before));
    }
    await settle(owner, payer.shieldedAddress, SPENT);
  }

  before(async () => {
    world = await openMonthWorld(addMonths(FEBRUARY, -1));
    merchant = new Merchant(world);
    payer = await world.wallet();
    await fund(world, payer, [10n * LASTING]);
    const owner = await merchant.wallet();
    for (const month of MONTHS) await live(month, owner);
    const chain = connectChain({ urls: [world.node.url], chainId: BigInt(world.chainId) });
    newest = (await chain.newest()).number;
    const logs = await chain.logs({ address: world.pool, from: world.deploymentBlock, to: newest });
    events = logs.flatMap((log) => decodeEvent(log) ?? []);
    const deploymentFile = join(temporaryFolder("months"), "deployment.json");
    writeAtomically(deploymentFile, toJson({ ...world }));
    await reader.json(initArguments({ node: world.node, service: { url: world.serviceUrl }, deploymentFile }));
  });

  const payments = () => events.filter((event) => event.type === "settled");
  /** The text of a file with the keys of a month. */
  const fileOf = (month: Month) => formatViewingKeys(merchant.auditKeys(month), world);
  const run = <T>(month: Month, ...args: string[]) =>
    reader.json<T>(args, { env: { SOTTO_VIEWING_KEY: fileOf(month) }, time: world.time.now() });

  for (const month of MONTHS)
    it(`of ${month.slice(5)} open the payments of that month, and no other note on chain`, () => {
      const keys = merchant.keys.ofMonth(month);
      const ownerTag = merchant.keys.ownerTag(0);
      const income = scanNotes({ viewingKeys: [keys.viewingKey], ownerTag }, payments());
      expect(income.flatMap((note) => note?.amount ?? [])).to.deep.equal([INCOME.get(month)]);
      const change = payments().map(({ ephemeralX: unique, ...event }) =>
        decryptChange({ changeKey: keys.changeKey, ownerTag }, { ...event, unique }),
      );
      const opened = payments().filter((_, i) => change[i] !== null);
      expect(opened.map(({ timestamp }) => new Date(1000 * timestamp).toISOString().slice(0, 7))).to.deep.equal([
        month,
      ]);
      // Each key opens only what it is for.
      const swapped = payments().map(({ ephemeralX: unique, ...event }) =>
        decryptChange({ changeKey: keys.viewingKey, ownerTag }, { ...event, unique }),
      );
      expect(swapped.filter((note) => note !== null)).to.deep.equal([]);
    });

  for (const month of MONTHS)
    it(`of ${month.slice(5)} show every command that month alone`, async () => {
      const amount = String(INCOME.get(month));
      interface Received {
        readonly received: { amount: string; month: string }[];
      }
      const { received } = await run<Received>(month, "receive");
      expect(received.map((one) => [one.month, one.amount])).to.deep.equal([[month, amount]]);

      const file = reader.path(`${month}.json`);
      writeFileSync(file, fileOf(month), { mode: 0o600 });
      interface Audit {
        readonly income: { amount: string; month: string }[];
        readonly spending: { month: string; time: string }[];
      }
      const audit = await reader.json<Audit>(["audit", file], { time: world.time.now() });
      expect(audit.income.map((one) => [one.month, one.amount])).to.deep.equal([[month, amount]]);
      expect(audit.spending.map((one) => [one.month, one.time.slice(0, 7)])).to.deep.equal([[month, month]]);

      // Over all blocks, so that payments of other months would count.
      const all = ["--from-block", "0", "--to-block", String(newest)];
      const statement = await run<object>(month, "totals", "--wallet", ACCOUNT, "--auditor", "me", ...all);
      const input = JSON.stringify(statement);
      interface Totals {
        readonly amount: string;
        readonly payments: number;
      }
      const totals = await reader.json<Totals>(["totals", "check", "-"], { input });
      expect(totals).to.deep.include({ amount, payments: 1 });
      for (const other of MONTHS.filter((one) => one !== month))
        expect(
          await reader.refused(["totals", "--month", other, "--viewing-key", file, "--auditor", "me", "--amounts"], 2),
        ).to.equal("USAGE");
    });

  it("of March show a browser's observer that month alone", () => {
    const place = { chainId: BigInt(world.chainId), pool: world.pool };
    for (const month of MONTHS) {
      const scanner = new NoteScanner(viewingScanKeys(merchant.auditKeys(month)), place);
      const notes = scanner
        .groups(payments())
        .flatMap(({ viewer, payments: some, own }) => own(scanNotes(viewer, some)));
      expect(notes.flatMap((note) => note?.amount ?? [])).to.deep.equal([INCOME.get(month)]);
    }
  });

  it("of March show a resource server no amount of April, and refuse none of its payments", async () => {
    const addresses = await merchant.sign(FEBRUARY, 3);
    let viewingKeys: () => ViewingKeys | undefined = () => undefined;
    const server = await openServer(world, { recipient: { addresses, viewingKeys: () => viewingKeys() } });
    const pay = wrapFetch(fetch, payer, { services: [world.serviceUrl], maxPerRequest: PRICE });
    const amounts: unknown[] = [];
    for (const keys of [
      () => merchant.viewingKeys(MARCH),
      () => merchant.viewingKeys(MARCH, APRIL),
      () => undefined,
      () => merchant.viewingKeys(...MONTHS),
      () => {
        throw new Error("the file is being written");
      },
    ]) {
      viewingKeys = keys;
      expect((await pay(`${server.url}/report`)).status).to.equal(200);
      const payment = server.sold.at(-1);
      amounts.push(payment?.kind === "payment" ? payment.amount : payment);
    }
    await server.close();
    expect(amounts).to.deep.equal([undefined, PRICE, undefined, undefined, undefined]);
    const troubles = server.events.flatMap(({ event, reason }) => (event === "trouble" ? [reason] : []));
    expect(troubles).to.deep.equal(["INVALID_OPTION", "INVALID_OPTION"]);
  });
});
