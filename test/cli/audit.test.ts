// Keys of months, read with the command line from a real pool in March and April.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { type DeployedNode, startDeployedNode } from "@sotto/local/chain/node";
import { addMonths, addressOwnerTag, type Month, parseMonth } from "@sotto/protocol";
import { eventually } from "@sotto/test-kit/eventually";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { TrapdoorProver } from "@sotto/test-world/trapdoor-prover";
import {
  appendCall,
  approveCall,
  type Chain,
  connectChain,
  createSeedWords,
  depositCall,
  ethersProvider,
  MemoryStore,
  NoteAppender,
  seedFromWords,
  sendCall,
  settleCall,
  Wallet,
  withdrawCall,
} from "@sotto/wallet";
import { expect } from "chai";
import { Contract, type JsonRpcApiProvider, type JsonRpcSigner } from "ethers";
import { Cli } from "./support/cli.ts";
import { initArguments } from "./support/world.ts";

const RESOURCE = "https://data.example/report";
const ACCOUNT = `0x${"ab".repeat(20)}`;
/** The next year, because a chain's time never goes back. */
const YEAR = new Date().getUTCFullYear() + 1;
const [FEBRUARY, MARCH, APRIL, MAY] = [2, 3, 4, 5].map((month) => parseMonth(`${YEAR}-0${month}`)) as [
  Month,
  Month,
  Month,
  Month,
];

interface Audit {
  total: { decimal: string };
  months: { month: string; payments: number; spent: number | null; income: { decimal: string } }[];
  income: { decimal: string; month: string; outsideMonth: boolean; time: string }[];
  spending: { by: string; change: { decimal: string }; month: string }[];
  covers: { months: string[]; lasting: boolean; toBlock: number };
  unknown: string[];
}

describe("sotto: keys of months", function () {
  slow(this, "a chain of two months");
  const prover = new TrapdoorProver();
  const owner = new Cli();
  const reader = new Cli();
  let node: DeployedNode;
  let chain: Chain;
  let provider: JsonRpcApiProvider;
  let relayer: JsonRpcSigner;
  let appender: NoteAppender;
  let [merchant, payer] = [undefined, undefined] as unknown as [Wallet, Wallet];
  let time = 0;
  /** Hashes of the transactions of each month. */
  const transactions: Record<string, string[]> = { [MARCH]: [], [APRIL]: [] };

  const place = () => {
    const { chainId, pool, deploymentBlock } = node.deployment;
    return { chain, chainId: BigInt(chainId), pool, deploymentBlock, finality: 0 };
  };
  const open = (words: string) =>
    Wallet.open({
      ...place(),
      seed: seedFromWords(words),
      store: new MemoryStore(),
      prover,
      clock: () => time,
    });
  const synchronize = async () => {
    time = 1000 * (await chain.newest()).timestamp;
  };
  const append = async () => {
    await appender.scan();
    while (appender.queued > 0) {
      await sendCall(relayer, appendCall(node.deployment.pool, (await appender.prepare()).append));
      await appender.scan();
    }
    await synchronize();
  };
  /** Deposits tokens for the merchant's address, as anybody can. */
  const depositForMerchant = async (amount: bigint) => {
    const { pool, token } = node.deployment;
    await sendCall(relayer, approveCall(token, pool, amount));
    await sendCall(relayer, depositCall(pool, [addressOwnerTag(merchant.shieldedAddress)], [amount]));
    await append();
  };
  const pay = async (from: Wallet, shieldedAddress: string, amount: bigint) => {
    const recipient = { wallet: ACCOUNT, shieldedAddress };
    const { settle } = await from.pay({ recipient, amount, resourceUrl: RESOURCE });
    const { hash } = await sendCall(relayer, settleCall(node.deployment.pool, [settle]));
    await append();
    return hash;
  };

  /** In this month, the merchant is paid 2 and 1, pays 0.5 to someone, withdraws 0.25, and gets a deposit of 0.3. */
  async function live(month: Month): Promise<void> {
    await provider.send("evm_setNextBlockTimestamp", [Date.parse(`${month}-10T12:00Z`) / 1000]);
    await provider.send("evm_mine", []);
    await synchronize();
    for (const amount of [2_000_000n, 1_000_000n])
      transactions[month]!.push(await pay(payer, merchant.addressOfMonth(month), amount));
    transactions[month]!.push(await pay(merchant, payer.shieldedAddress, 500_000n));
    const withdrawal = await merchant.withdraw({ recipient: ACCOUNT, amount: 250_000n });
    const { hash } = await sendCall(relayer, withdrawCall(node.deployment.pool, withdrawal.withdraw));
    transactions[month]!.push(hash);
    await append();
    await depositForMerchant(300_000n);
  }

  before(async () => {
    node = await startDeployedNode();
    const { deployment } = node;
    chain = connectChain({ urls: [node.url], chainId: BigInt(deployment.chainId) });
    provider = ethersProvider(chain);
    relayer = await provider.getSigner(0);
    appender = await NoteAppender.open({ ...place(), store: new MemoryStore(), prover });
    const deploymentFile = join(temporaryFolder("audit"), "deployment.json");
    writeAtomically(deploymentFile, toJson(deployment));
    const service = { url: "http://127.0.0.1:9/zk" };
    const init = initArguments({ node, service, deploymentFile });
    const words = createSeedWords();
    await owner.json([...init, "--words"], { input: words });
    owner.learnSecrets(Date.parse(`${MARCH}-10`));
    await reader.json(init);
    [merchant, payer] = [await open(words), await open(createSeedWords())];
    const token = new Contract(deployment.token, ["function mint(address,uint256)"], relayer);
    await (await token.getFunction("mint")(relayer.address, 21_000_000n)).wait();
    await synchronize();
    const { approve, deposit } = await payer.deposit({ amounts: [5_000_000n, 5_000_000n, 5_000_000n, 5_000_000n] });
    await sendCall(relayer, approve);
    await sendCall(relayer, deposit);
    await append();
    for (const month of [MARCH, APRIL]) await live(month);
    // A payer who does not use sotto's client pays the address of May in April.
    await pay(payer, merchant.addressOfMonth(MAY), 100_000n);
  });
  after(async () => {
    provider?.destroy();
    await node?.stop();
  });

  /** Writes a file of the owner's keys. @returns its path */
  async function write(name: string, ...args: string[]): Promise<string> {
    const file = owner.path(name);
    await owner.json([...args, "--out", file]);
    return file;
  }
  const audit = (file: string) => reader.json<Audit>(["audit", file], { time });

  it("audit shows income and change of March with the keys of March, and nothing of April", async () => {
    const report = await audit(await write("march.json", "audit-key", "--month", MARCH));
    expect(report.total.decimal).to.equal("3");
    expect(report.income.map(({ decimal, month }) => [decimal, month])).to.deep.equal([
      ["2", MARCH],
      ["1", MARCH],
    ]);
    for (const { time: moment } of report.income) expect(moment).to.match(new RegExp(`^${MARCH}-10T`));
    expect(report.spending.map(({ by, month }) => [by, month])).to.deep.equal([
      ["payment", MARCH],
      ["withdrawal", MARCH],
    ]);
    expect(report.months).to.deep.equal([
      { month: MARCH, payments: 2, spent: 2, income: { amount: "3000000", decimal: "3" } },
    ]);
    expect(report.covers).to.deep.include({ months: [MARCH], lasting: false });
    const text = JSON.stringify(report);
    for (const hash of transactions[MARCH]!) expect(text).to.include(hash);
    for (const hash of transactions[APRIL]!) expect(text).to.not.include(hash);
  });

  it("audit shows nothing with the keys of a month without payments", async () => {
    const report = await audit(await write("february.json", "audit-key", "--month", FEBRUARY));
    expect([report.income, report.spending, report.total.decimal]).to.deep.equal([[], [], "0"]);
  });

  it("audit finds a payment that came before the month of its address", async () => {
    const report = await audit(await write("may.json", "audit-key", "--month", MAY));
    expect(report.income.map(({ decimal, month }) => [decimal, month])).to.deep.equal([["0.1", MAY]]);
    expect(report.income[0]!.time).to.match(new RegExp(`^${APRIL}`));
    expect(report.income[0]!.outsideMonth).to.equal(true);
    const { stdout } = await reader.run(["audit", owner.path("may.json")], { time });
    expect(stdout).to.match(
      new RegExp(`^ {2}${APRIL}-10 12:\\d\\d {2}0\\.1 USDC {2}block \\d+, leaf \\d+, outside ${MAY}$`, "m"),
    );
  });

  it("audit shows both months with the keys of both", async () => {
    const report = await audit(await write("both.json", "audit-key", "--from", MARCH, "--to", APRIL));
    expect(report.months.map(({ month, payments, spent }) => [month, payments, spent])).to.deep.equal([
      [MARCH, 2, 2],
      [APRIL, 2, 2],
    ]);
    expect(report.total.decimal).to.equal("6");
  });

  it("audit keeps nothing in the reader's folder", async () => {
    expect(readdirSync(reader.home).sort()).to.deep.equal(["config.json", "seed"]);
  });

  it("audit shows income only with viewing keys, and says so", async () => {
    const report = await audit(await write("viewing.json", "view-key", "--month", MARCH));
    expect([report.income.length, report.spending.length, report.months[0]!.spent]).to.deep.equal([2, 0, null]);
    expect(report.unknown.join()).to.include("no change keys");
  });

  it("audit says in its text what it covers and cannot know, in lines of 80 columns", async () => {
    const { stdout } = await reader.run(["audit", owner.path("march.json")], { time });
    expect(stdout).to.match(new RegExp(`^${MARCH} income: 3 USDC in 2 payments$`, "m"));
    expect(stdout).to.match(new RegExp(`^${MARCH} spending: 2 times$`, "m"));
    expect(stdout).to.match(
      new RegExp(`^This report covers the addresses of ${MARCH}, up to block \\d+\\. It has every`, "m"),
    );
    expect(stdout).to.match(/^- Amounts of payments that the wallet made/m);
    expect(stdout.split("\n").filter((line) => line.length > 80)).to.deep.equal([]);
  });

  it("receive says what it covers and cannot know", async () => {
    const { stdout } = await reader.run(["receive", "--viewing-key", owner.path("viewing.json")], { time });
    expect(stdout).to.match(new RegExp(`^${MARCH}: 3 USDC$`, "m"));
    expect(stdout).to.match(/^total income 3 USDC\ndeposits, not income: 0\.6 USDC\n/m);
    expect(stdout).to.match(new RegExp(`^This report covers the addresses of ${MARCH}, up to block \\d+\\.$`, "m"));
    expect(stdout).to.match(/^- The wallet's spending\.$/m);
  });

  it("receive lists the payments by month, and only those of its keys", async () => {
    const read = (file?: string) =>
      (file === undefined ? owner : reader).json<{
        total: { decimal: string };
        months: { month: string | null; decimal: string }[];
        deposits: { decimal: string };
        covers: { months: string[]; lasting: boolean };
      }>(["receive", ...(file === undefined ? [] : ["--viewing-key", file])], { time });
    const march = await read(owner.path("viewing.json"));
    expect(march.months.map(({ month, decimal }) => [month, decimal])).to.deep.equal([[MARCH, "3"]]);
    expect(march.covers).to.deep.include({ months: [MARCH], lasting: false });
    const all = await read();
    expect(all.months.map(({ month, decimal }) => [month, decimal])).to.deep.equal([
      [MARCH, "3"],
      [APRIL, "3"],
    ]);
    expect([all.total.decimal, all.deposits.decimal]).to.deep.equal(["6", "0.6"]);
    expect(all.covers.lasting).to.equal(true);
    expect(all.covers.months.at(-1)).to.equal(addMonths(APRIL, 13));
  });

  it("totals proves the income of each month in its blocks, and their sum, without a key", async () => {
    const file = owner.path("totals.json");
    const made = ["totals", "--from", MARCH, "--to", MAY, "--wallet", ACCOUNT, "--auditor", "Audit office", "-o", file];
    const { statements, skipped } = await owner.json<{ statements: { hiddenTotal: string }[]; skipped: string[] }>(
      made,
    );
    expect(statements.map(({ hiddenTotal }) => hiddenTotal)).to.deep.equal(["3000000", "3000000"]);
    expect(skipped).to.deep.equal([MAY]);
    const check = ["totals", "check", file, "--auditor", "Audit office"];
    const checked = await reader.json<{
      decimal: string;
      payments: number;
      statements: { month: string; decimal: string; isWholeMonth: boolean; isScheduled: boolean }[];
      covers: object;
    }>(check);
    expect(checked).to.deep.include({ decimal: "6", payments: 4, covers: { months: [MARCH, APRIL], lasting: false } });
    // The chain ends in April.
    expect(checked.statements.map(({ month, decimal, isWholeMonth }) => [month, decimal, isWholeMonth])).to.deep.equal([
      [MARCH, "3", true],
      [APRIL, "3", false],
    ]);
    const { stdout } = await reader.run(check);
    expect(stdout).to.match(new RegExp(`^${MARCH} +3 USDC +2 payments +blocks \\d+ to \\d+$`, "m"));
    expect(stdout).to.match(new RegExp(`^${APRIL}: these are not all blocks`, "m"));
    expect(stdout).to.match(/^- Income of other addresses: of other months, the lasting one, other wallets\.$/m);
    const long = stdout.split("\n").filter((line) => line.length > 80);
    expect(long.filter((line) => !line.includes(": 0x"))).to.deep.equal([]);
  });

  it("totals takes a file of keys, and refuses months that it does not have", async () => {
    const file = owner.path("march-key.json");
    await owner.json(["view-key", "--month", MARCH, "--out", file]);
    const made = ["totals", "--viewing-key", file, "--wallet", ACCOUNT, "--auditor", "me"];
    const document = await reader.json<{ statements: { month: string }[] }>(made);
    expect(document.statements.map(({ month }) => month)).to.deep.equal([MARCH]);
    expect(await reader.refused([...made, "--month", APRIL], 2)).to.equal("USAGE");
    // The payment to May's address settled in April, so these blocks have it.
    const may = ["totals", "--month", MAY, "--from-block", "0", "--to-block", String((await chain.newest()).number)];
    const { stdout } = await owner.run([...may, "--wallet", ACCOUNT, "--auditor", "me"]);
    const found = await reader.json<{ decimal: string }>(["totals", "check", "-"], { input: stdout });
    expect(found.decimal).to.equal("0.1");
  });

  it("no command shows anything of April with the keys of March", async () => {
    const totals = async (options: { env?: Record<string, string> }, ...args: string[]) => {
      const { stdout } = await reader.run(["totals", "--auditor", "me", "--amounts", ...args], { ...options, time });
      return reader.run(["totals", "check", "-", "--json"], { input: stdout, time });
    };
    const commands = (file: string, env: Record<string, string>) => [
      () => reader.run(["receive", "--viewing-key", file, "--json"], { time }),
      () => reader.run(["receive", "--json"], { env, time }),
      () => reader.run(["audit", file, "--json"], { time }),
      () => totals({}, "--viewing-key", file),
      () => totals({ env }),
    ];
    const both = await write("attacked.json", "audit-key", "--from", MARCH, "--to", APRIL);
    const march = owner.path("march.json");
    for (const [file, april] of [
      [march, false],
      // The control: with the keys of both months, each command shows both.
      [both, true],
    ] as const) {
      const env = { SOTTO_VIEWING_KEY: readFileSync(file, "utf8") };
      for (const run of commands(file, env)) {
        const { code, stdout, stderr } = await run();
        expect(code, stderr).to.equal(0);
        for (const month of [MARCH, APRIL])
          for (const hash of transactions[month]!.slice(0, 2))
            expect(stdout.includes(hash), month).to.equal(month === MARCH || april);
      }
    }
  });

  it("receipt check says which month's address was paid, and March's key opens no receipt of April", async () => {
    const receiptOf = async (month: Month) => {
      const { id } = (await payer.payments({ decimals: 6, direction: "out" })).find(
        ({ recipientAddress }) => recipientAddress === merchant.addressOfMonth(month),
      )!;
      return JSON.stringify(await payer.receipt(id, { showDeposit: true }));
    };
    await payer.scan();
    const [march, april] = [await receiptOf(MARCH), await receiptOf(APRIL)];
    const key = await write("receipts.json", "view-key", "--month", MARCH);
    const check = ["receipt", "check", "-", "--viewing-key", key];
    const checked = await reader.json<{ month: string; recipientAddress: string }>(check, { input: march });
    expect(checked).to.include({ month: MARCH, recipientAddress: merchant.addressOfMonth(MARCH) });
    expect(await reader.refused(check, 7, { input: april })).to.equal("RECEIPT_ELSEWHERE");
    const both = await write("receipts-both.json", "view-key", "--from", MARCH, "--to", APRIL);
    const again = ["receipt", "check", "-", "--viewing-key", both];
    expect(await reader.json(again, { input: april })).to.include({ month: APRIL });
    expect(await reader.json(["receipt", "check", "-"], { input: april })).to.not.have.property("month");
  });

  it("scan --all finds a payment outside the month of its address, which the balance counts from then on", async () => {
    const totalOf = async () => (await owner.json<{ total: { decimal: string } }>(["balance"], { time })).total.decimal;
    const before = Number(await totalOf());
    const scanned = await owner.json<{ outsideMonth: null }>(["scan"], { time });
    expect(scanned.outsideMonth).to.equal(null);
    const searched = await owner.json<{ outsideMonth: number; total: { decimal: string } }>(["scan", "--all"], {
      time,
    });
    expect(searched.outsideMonth).to.equal(1);
    expect(Number(searched.total.decimal)).to.be.closeTo(before + 0.1, 1e-9);
    expect(await totalOf()).to.equal(searched.total.decimal);
    const { stdout } = await owner.run(["scan", "--all"], { time });
    expect(stdout).to.match(/^found 0 payments outside the month of the paid address$/m);
  });

  it("receive keeps what given keys found beside what its own keys found, so that one may run during the other", async () => {
    const totalOf = (...args: string[]) =>
      owner.json<{ total: { decimal: string } }>(["receive", ...args], { time }).then(({ total }) => total.decimal);
    const file = await write("beside.json", "view-key", "--month", MARCH);
    const all = await totalOf();
    let shown = "";
    const { child, ended } = owner.start(["receive", "--watch", "--json"], {
      watch: (text) => {
        shown += text;
      },
    });
    await eventually(async () => (shown.includes("\n") ? shown : undefined));
    expect(await totalOf("--viewing-key", file)).to.equal("3");
    child.kill("SIGINT");
    expect((await ended).code).to.equal(130);
    // The watching one may have searched as well.
    expect(Number(await totalOf())).to.be.at.least(Number(all));
    expect(readdirSync(owner.home).filter((name) => /^viewing-.*\.sqlite$/.test(name))).to.have.lengthOf(2);
  });

  it("receive --watch finds a payment outside the month of its address while it waits", async () => {
    const file = await write("may-key.json", "view-key", "--month", MAY);
    let shown = "";
    const { child, ended } = reader.start(["receive", "--watch", "--json", "--viewing-key", file], {
      watch: (text) => {
        shown += text;
      },
    });
    const line = await eventually(async () =>
      shown.split("\n").find((one) => one.endsWith("}") && !one.includes('"deposit"')),
    );
    child.kill("SIGINT");
    expect((await ended).code).to.equal(130);
    expect(JSON.parse(line)).to.include({ decimal: "0.1", month: MAY, outsideMonth: true });
  });

  it("rejects keys of another wallet's address, of another pool, and damaged files", async () => {
    const text = JSON.parse((await owner.run(["view-key", "--month", MARCH, "--out", "-"])).stdout);
    const other = JSON.parse((await owner.run(["view-key", "--month", APRIL, "--out", "-"])).stdout);
    for (const change of [
      { pool: `0x${"5b".repeat(20)}` },
      { chainId: "1" },
      { ownerTag: "5" },
      { keys: [{ ...text.keys[0], viewingKey: other.keys[0].viewingKey }] },
      { keys: [] },
      { version: 3 },
    ]) {
      const env = { SOTTO_VIEWING_KEY: JSON.stringify({ ...text, ...change }) };
      expect(await reader.refused(["receive"], 9, { env, time }), JSON.stringify(change)).to.equal("KEY_MISSING");
    }
  });
});
