import { compose, EXIT } from "@sotto/cli-kit";
import { expect } from "chai";
import { DEAD_VERSION, DeadHome } from "./support/run.ts";
import { BAD, BAD_OPTIONS, describeUsage, refuses } from "./support/usage.ts";

const { commands } = compose([]);
const ADDRESS = `0x${"56".repeat(20)}`;
const SHIELDED = `0x0b${"00".repeat(63)}`;
const MONTHS = ["x", "2026-13", "2026-1", "1999-12", "2019-12", "2100-01", "2026-01-01"];
const { amounts, counts, addresses, urls, files } = BAD;

const bad = {
  ...BAD_OPTIONS,
  amount: amounts,
  // 0: the user approves every payment.
  "approve-above": amounts.filter((amount) => amount !== "0"),
  artifacts: [],
  auditor: [],
  challenge: [],
  code: ["x", "1", "12345678901", "12 34"],
  confirmations: [...counts, "0", "1001"],
  data: ["@/nowhere/at/all"],
  deployment: files,
  finality: [...counts, "1001"],
  first: MONTHS,
  from: MONTHS,
  "from-block": counts,
  header: ["x", "a b: c", ": c", "a: b\nc: d", "X-Payment-Proof: {}"],
  month: MONTHS,
  months: [...counts, "0", "14"],
  method: ["get", "G E T", "", "POST\n"],
  notes: [...counts, "0", "65"],
  phone: ["x", "4155550123", "+1"],
  pool: addresses,
  receipt: files,
  rpc: urls,
  schedule: files,
  since: counts,
  target: amounts,
  to: [...addresses, "+1"],
  "to-block": counts,
  again: [],
  "viewing-key": [],
  wait: [...counts, "86401"],
};

/** Otherwise valid arguments, so that only the tested option is wrong. */
const valid = {
  init: ["--update"],
  deposit: ["1"],
  pay: ["http://127.0.0.1:9/", "--max", "1"],
  request: ["http://127.0.0.1:9/", "--max", "1"],
  send: ["1", "--to", SHIELDED, "--yes"],
  dismiss: ["x"],
  withdraw: ["1", "--to", ADDRESS, "--yes"],
  link: ["+14155550123"],
  resolve: ["+14155550123"],
  receipt: ["x"],
  "receipt check": ["FILE"],
  refund: ["x:1", "--to", SHIELDED, "--yes"],
  totals: ["--auditor", "me", "--amounts"],
  "totals check": ["FILE"],
  "address schedule": ["--phone", "+14155550123", "--service", "http://127.0.0.1:9/zk"],
  "view-key": ["--from", "2026-01", "--to", "2026-03", "--out", "-"],
  "audit-key": ["--from", "2026-01", "--to", "2026-03", "--out", "-"],
  audit: ["FILE"],
  export: ["--words", "--show-secret"],
  restore: ["FILE"],
};

describe("usage", () => {
  let home: DeadHome;
  before(() => {
    home = new DeadHome();
  });

  describeUsage(commands, { home: () => home, bad, valid });

  it("validates arguments as strictly as options", async () => {
    for (const amount of amounts.filter((text) => !text.startsWith("-"))) await refuses(home, ["deposit", amount]);
    for (const amount of amounts.filter((text) => !text.startsWith("-")))
      await refuses(home, ["withdraw", amount, "--to", ADDRESS]);
    for (const url of urls) await refuses(home, ["pay", url, "--max", "1"]);
    for (const phone of ["x", "4155550123", "+0123456", "+1", "+1234567890123456"])
      await refuses(home, ["resolve", phone]);
    await refuses(home, ["receipt", "check", "/nowhere/at/all"]);
    await refuses(home, ["payments", "--in", "--out"]);
    await refuses(home, ["export"]);
    await refuses(home, ["view-key"]);
    await refuses(home, ["view-key", "--next", "--lasting"]);
    await refuses(home, ["view-key", "--next", "--month", "2026-01"]);
    await refuses(home, ["view-key", "--month", "2026-01", "--to", "2026-02"]);
    await refuses(home, ["audit-key"]);
    for (const name of ["view-key", "audit-key"]) {
      await refuses(home, [name, "--from", "2026-01"]);
      await refuses(home, [name, "--to", "2026-01"]);
      await refuses(home, [name, "--from", "2026-02", "--to", "2026-01"]);
      await refuses(home, [name, "--from", "2020-01", "--to", "2099-12"]);
    }
    await refuses(home, ["address", "schedule", "--phone", "+14155550123"]);
    await refuses(home, ["address", "schedule", "--service", "http://127.0.0.1:9/zk"]);
    await refuses(home, ["deposit", "1", "--notes", "1", "--notes", "2"]);
    await refuses(home, ["x".repeat(70_000)]);
    await refuses(home, ["deposit", "x".repeat(70_000)]);
  });

  it("never repeats a value in an error", async () => {
    const secret = "tragedyvillage";
    for (const args of [
      [secret],
      ["deposit", secret],
      ["deposit", "1", secret, secret],
      ["deposit", "1", `--${secret}`],
      ["deposit", "1", "--seed", secret],
      ["init", "--words", secret],
      ["address", secret],
      ["pay", `http://x:${secret}@host/`],
    ]) {
      const { code, stdout, stderr } = await home.run(args);
      expect(code).to.equal(EXIT.usage.code);
      expect(`${stdout}${stderr}`, args.join(" ")).to.not.include(secret);
    }
  });

  it("lists the commands and exits with 2 without a command, with 0 for --help", async () => {
    const { stdout } = await home.run(["--help"]);
    for (const { name } of commands) expect(stdout).to.include(`  ${name} `);
    expect(stdout.split("\n").filter((line) => line.length > 80)).to.deep.equal([]);
    for (const { code, means } of Object.values(EXIT))
      expect(stdout).to.match(new RegExp(`${code}  ${means.slice(0, 20)}`));
  });

  it("--version shows the program's version without a wallet", async () => {
    expect(await home.run(["--version"])).to.deep.include({ code: 0, stdout: `${DEAD_VERSION}\n`, stderr: "" });
    expect(JSON.parse((await home.run(["--version", "--json"])).stdout)).to.deep.equal({ version: DEAD_VERSION });
  });
});

describe("a wallet whose node does not answer", () => {
  let home: DeadHome;
  before(() => {
    home = new DeadHome();
  });

  it("exits with 6, and prints JSON to standard error with --json", async () => {
    const { code, stdout, stderr } = await home.run(["balance", "--json"]);
    expect([code, stdout]).to.deep.equal([6, ""]);
    expect(JSON.parse(stderr)).to.deep.include({
      error: { ...JSON.parse(stderr).error, code: "NODE_UNREACHABLE", exit: 6 },
    });
  });

  it("shows its address without progress output", async () => {
    const { code, stdout, stderr } = await home.run(["address"], {}, []);
    expect(code).to.equal(0);
    expect(stdout).to.match(/^0x[0-9a-f]{128}\n$/);
    expect(stderr).to.equal("");
  });
});
