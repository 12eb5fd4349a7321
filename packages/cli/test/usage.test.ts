import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { compose } from "../src/compose.ts";
import { EXIT } from "../src/frame/exit.ts";
import { SETS } from "../src/sets.ts";
import { DeadHome } from "./support/run.ts";

const { commands } = compose(SETS);

const ADDRESS = `0x${"56".repeat(20)}`;
const SHIELDED = `0x0b${"00".repeat(63)}`;

/** Values that each kind of option rejects. */
const amounts = ["x", "0", "-1", "1e3", "0.0000001", "1,5", "99999999999999999999", "0x10"];
const counts = ["x", "-1", "1.5", "1e2", "99999999999999999999"];
const addresses = ["0x12", "hello", `0x${"zz".repeat(20)}`, `0xA${"b".repeat(39)}`];
const urls = ["x", "ftp://data.example/", "http://user:word@data.example/", "http://", `http://${"x".repeat(3000)}`];
const missing = ["/nowhere/at/all"];
const bad: Readonly<Record<string, readonly string[]>> = {
  amount: amounts,
  // 0: the user approves every payment.
  "approve-above": amounts.filter((amount) => amount !== "0"),
  artifacts: [],
  auditor: [],
  challenge: [],
  code: ["x", "1", "12345678901", "12 34"],
  confirmations: [...counts, "0", "1001"],
  data: ["@/nowhere/at/all"],
  deployment: missing,
  epochs: [...counts, "0", "13"],
  extend: missing,
  finality: [...counts, "1001"],
  from: ["x", "2026-13", "2026-1", "1999-12", "2020-01", "2999-01", "3000-01"],
  "from-block": counts,
  header: ["x", "a b: c", ": c", "a: b\nc: d", "X-Payment-Proof: {}"],
  key: [],
  keystore: [],
  max: amounts,
  "max-day": amounts,
  "max-host": amounts,
  "max-unspent": amounts,
  method: ["get", "G E T", "", "POST\n"],
  mirror: urls,
  notes: [...counts, "0", "65"],
  origin: ["x", "data.example", "https://data.example/", "https://DATA.example", "ftp://data.example", "https://a b"],
  out: [],
  output: [],
  pool: addresses,
  receipt: missing,
  registry: urls,
  rpc: urls,
  schedule: missing,
  service: urls,
  signature: ["x", "0x", "0x1", "0xzz", `0x${"00".repeat(8193)}`],
  since: counts,
  target: amounts,
  to: [...addresses, "+1"],
  "to-block": counts,
  again: [],
  values: [
    "x",
    "0",
    "3",
    "300",
    "1000.5",
    "-1000",
    "1000,1000",
    "1000,",
    "01",
    `1${"0".repeat(20)}`,
    "1,2,5,10,20,50,100,200,500,1000,2000,5000,10000",
  ],
  "viewing-key": [],
  wait: [...counts, "86401"],
  wallet: addresses,
};

/** Otherwise valid arguments, so that only the tested option is wrong. */
const base: Readonly<Record<string, readonly string[]>> = {
  init: ["--update"],
  deposit: ["1"],
  pay: ["http://127.0.0.1:9/", "--max", "1"],
  request: ["http://127.0.0.1:9/", "--max", "1"],
  send: ["1", "--to", SHIELDED, "--yes"],
  dismiss: ["x"],
  "prepaid buy": ["http://127.0.0.1:9/", "--max", "1"],
  "prepaid resume": ["http://127.0.0.1:9"],
  "prepaid drop": ["http://127.0.0.1:9"],
  "prepaid restore": ["http://127.0.0.1:9"],
  withdraw: ["1", "--to", ADDRESS, "--yes"],
  link: ["+14155550123"],
  resolve: ["+14155550123"],
  receipt: ["x"],
  "receipt check": ["FILE"],
  refund: ["x:1", "--to", SHIELDED, "--yes"],
  totals: ["--auditor", "me", "--amounts"],
  "totals check": ["FILE"],
  "prepaid keys": ["--origin", "https://data.example", "--values", "1000", "--out", "/nowhere/at/all"],
  "prepaid sign": ["--schedule", "FILE"],
  "prepaid push": ["--schedule", "FILE"],
  export: ["--words", "--show-secret"],
  restore: ["FILE"],
};

describe("usage", () => {
  let home: DeadHome;
  let file: string;
  before(() => {
    home = new DeadHome();
    file = home.write("some.json", "{}");
  });
  after(() => home.remove());

  const argumentsOf = (name: string, option?: string): string[] => {
    const args = (base[name] ?? []).map((arg) => (arg === "FILE" ? file : arg));
    const at = option === undefined ? -1 : args.indexOf(`--${option}`);
    return [...name.split(" "), ...(at < 0 ? args : [...args.slice(0, at), ...args.slice(at + 2)])];
  };
  const refuses = async (args: readonly string[], code: number = EXIT.usage.code) => {
    const ended = await home.run(args);
    expect(ended.code, `sotto ${args.join(" ")}: ${ended.stderr}`).to.equal(code);
    expect(ended.stdout).to.equal("");
    expect(ended.stderr).to.match(/^sotto: [A-Z_]+: [^\n]+\n$/);
    return ended.stderr;
  };

  for (const command of commands) {
    const { name, options, positionals } = command;
    describe(`of ${name}`, () => {
      for (const [option, { value }] of Object.entries(options))
        if (value !== undefined)
          it(`--${option} accepts only ${value}`, async () => {
            expect(bad, `values that --${option} refuses`).to.have.property(option);
            for (const wrong of bad[option]!) await refuses([...argumentsOf(name, option), `--${option}=${wrong}`]);
            if (!option.startsWith("max") && option !== "header")
              await refuses([...argumentsOf(name, option), `--${option}=`]);
            await refuses([...argumentsOf(name, option), `--${option}`]);
          });

      it("names exactly its options in --help", async () => {
        const { code, stdout } = await home.run([...name.split(" "), "--help"]);
        expect(code).to.equal(0);
        for (const option of Object.keys(options)) expect(stdout).to.include(`--${option}`);
        expect(stdout.split("\n").filter((line) => line.length > 80)).to.deep.equal([]);
        await refuses([...argumentsOf(name), "--nothing-like-that"]);
        await refuses([...argumentsOf(name), ...positionals.map(() => "x"), "x", "x"]);
      });

      if (positionals.some((positional) => !positional.startsWith("[")))
        it("requires its arguments", async () => {
          await refuses(name.split(" "));
        });
    });
  }

  it("validates arguments as strictly as options", async () => {
    for (const amount of amounts.filter((text) => !text.startsWith("-"))) await refuses(["deposit", amount]);
    for (const amount of amounts.filter((text) => !text.startsWith("-")))
      await refuses(["withdraw", amount, "--to", ADDRESS]);
    for (const url of urls) await refuses(["pay", url, "--max", "1"]);
    for (const phone of ["x", "4155550123", "+0123456", "+1", "+1234567890123456"]) await refuses(["resolve", phone]);
    await refuses(["receipt", "check", "/nowhere/at/all"]);
    await refuses(["payments", "--in", "--out"]);
    await refuses(["export", "--words", "--viewing-key"]);
    await refuses(["export"]);
    await refuses(["deposit", "1", "--notes", "1", "--notes", "2"]);
    await refuses(["x".repeat(70_000)]);
    await refuses(["deposit", "x".repeat(70_000)]);
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

  it("--version shows the package's version without a wallet", async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, "..", "package.json"), "utf8"));
    expect(await home.run(["--version"])).to.deep.include({ code: 0, stdout: `${version}\n`, stderr: "" });
    expect(JSON.parse((await home.run(["--version", "--json"])).stdout)).to.deep.equal({ version });
  });
});

describe("a wallet whose node does not answer", () => {
  let home: DeadHome;
  before(() => {
    home = new DeadHome();
  });
  after(() => home.remove());

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
