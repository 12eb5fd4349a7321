import { cpSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clearOfMidnight } from "@sotto/test-kit/clock";
import { slow } from "@sotto/test-kit/slow";
import { expect } from "chai";
import { DeadHome, type Ended } from "../../../cli-kit/test/support/run.ts";
import { prepaidCommands } from "../../src/cli.ts";
import {
  decodeMeteredTerms,
  decodeReceiptKeyFile,
  decodeSignedTerms,
  epochOf,
  laterEpoch,
  receiptKeyOf,
  verifyTermsSignature,
} from "../../src/index.ts";

const ORIGIN = "https://data.example";
const RULE = { base: "0", units: [{ name: "rows", price: "1", per: 1 }], cap: "200", grain: "100" };
const routesOf = (rule: object = RULE) => JSON.stringify({ routes: [{ method: "GET", path: "/rows", rule }] });

describe("sotto prepaid terms", function () {
  slow(this, "generates RSA keys");
  let home: DeadHome;
  let now: string;
  let keys: string;
  let routes: string;
  before(async () => {
    await clearOfMidnight();
    now = epochOf(Date.now());
    home = new DeadHome([prepaidCommands]);
    keys = join(home.folder, "keys");
    routes = home.write("routes.json", routesOf());
    const made = await run("keys", "--origin", ORIGIN, "--values", "100,200", "--epochs", "2", "--out", keys);
    expect(made.code, made.stderr).to.equal(0);
  });

  const run = (...args: string[]) => home.run(["prepaid", args[0]!, "--json", ...args.slice(1)]);
  const terms = (...args: string[]) => run("terms", "--keys", keys, ...args);
  const read = (path: string): Record<string, unknown> => JSON.parse(readFileSync(path, "utf8"));
  const codeOf = ({ code, stderr }: Ended) => [code, JSON.parse(stderr.trim().split("\n").at(-1)!).error.code];

  it("writes secret receipt keys and the terms that name them, which the account signs", async () => {
    const folder = join(home.folder, "terms");
    const ended = await terms("--routes", routes, "--out", folder);
    expect(ended.code, ended.stderr).to.equal(0);
    expect(JSON.parse(ended.stdout)).to.deep.include({ epochs: [now, laterEpoch(now, 1)], origin: ORIGIN, routes: 1 });
    expect(statSync(join(keys, "receipts.json")).mode & 0o777).to.equal(0o600);
    const file = decodeReceiptKeyFile(read(join(keys, "receipts.json")));
    const made = decodeMeteredTerms(read(join(folder, "terms.json"))["terms"]);
    expect(made.receiptKeys).to.deep.equal(file.keys.map(({ secret }) => receiptKeyOf(secret)));
    for (const { secret } of file.keys)
      expect(ended.stdout + ended.stderr).to.not.include(Buffer.from(secret).toString("hex"));
    const signed = await run("sign", "--terms", join(folder, "terms.json"));
    expect(signed.code, signed.stderr).to.equal(0);
    const { file: path } = JSON.parse(signed.stdout);
    expect(path).to.equal(join(folder, "terms.signed.json"));
    const noChain = () => Promise.reject(new Error("no call to the chain is needed"));
    expect(await verifyTermsSignature(decodeSignedTerms(read(path)), noChain)).to.equal(true);
    expect(codeOf(await terms("--routes", routes, "--out", folder))).to.deep.equal([2, "FILE_EXISTS"]);
    expect(codeOf(await run("sign", "--terms", path, "--schedule", path))).to.deep.equal([2, "USAGE"]);
  });

  it("uses receipt keys again and adds those of later months, so that a month has one", async () => {
    const own = join(home.folder, "own");
    cpSync(keys, own, { recursive: true });
    const secrets = join(own, "receipts.json");
    rmSync(secrets, { force: true });
    const of = (...args: string[]) => run("terms", "--keys", own, "--routes", routes, ...args);
    const keysIn = (path: string) => decodeMeteredTerms(read(join(path, "terms.json"))["terms"]).receiptKeys;
    const [first, second, third] = ["first", "second", "third"].map((name) => join(home.folder, name)) as [
      string,
      string,
      string,
    ];
    expect((await of("--out", first, "--epochs", "1")).code).to.equal(0);
    expect((await of("--out", second)).code).to.equal(0);
    const both = readFileSync(secrets, "utf8");
    expect(keysIn(second)).to.have.length(2);
    expect(keysIn(second)[0]).to.equal(keysIn(first)[0]);
    expect((await of("--out", third)).code).to.equal(0);
    expect(keysIn(third)).to.deep.equal(keysIn(second));
    expect(readFileSync(secrets, "utf8")).to.equal(both);
    expect(statSync(secrets).mode & 0o777).to.equal(0o600);
    // Keys of later months.
    const extended = join(home.folder, "extended");
    const more = await run("keys", "--extend", own, "--epochs", "1", "--out", extended);
    expect(more.code, more.stderr).to.equal(0);
    const last = await run("terms", "--keys", extended, "--routes", routes, "--out", extended);
    expect(last.code, last.stderr).to.equal(0);
    expect(keysIn(extended)).to.have.length(3);
    expect(keysIn(extended).slice(0, 2)).to.deep.equal(keysIn(second));
  });

  it("uses the keys that an interrupted run has written", async () => {
    const folder = join(home.folder, "interrupted");
    const secrets = readFileSync(join(keys, "receipts.json"), "utf8");
    expect((await terms("--routes", routes, "--out", folder)).code).to.equal(0);
    expect(readFileSync(join(keys, "receipts.json"), "utf8")).to.equal(secrets);
    rmSync(join(folder, "terms.json"));
    expect((await terms("--routes", routes, "--out", folder)).code).to.equal(0);
    expect(readFileSync(join(keys, "receipts.json"), "utf8")).to.equal(secrets);
  });

  it("refuses receipt keys of another origin", async () => {
    const other = join(home.folder, "other");
    cpSync(keys, other, { recursive: true });
    const file = { ...read(join(other, "receipts.json")), origin: "https://other.example" };
    writeFileSync(join(other, "receipts.json"), JSON.stringify(file));
    const ended = await run("terms", "--keys", other, "--routes", routes, "--out", join(home.folder, "unwritten"));
    expect(codeOf(ended)).to.deep.equal([3, "REFUSED"]);
  });

  it("refuses routes without keys for their values, malformed ones, and months without keys", async () => {
    const out = join(home.folder, "refused");
    const five = home.write("five.json", routesOf({ ...RULE, cap: "500" }));
    const ended = await terms("--routes", five, "--out", out);
    expect(codeOf(ended)).to.deep.equal([2, "USAGE"]);
    expect(ended.stderr).to.include("add keys for 500");
    expect(codeOf(await terms("--routes", routes, "--out", out, "--epochs", "3"))).to.deep.equal([2, "USAGE"]);
    const past = ["--from", laterEpoch(now, -1)];
    expect(codeOf(await terms("--routes", routes, "--out", out, ...past))).to.deep.equal([2, "USAGE"]);
    const overlapping = ["/rows", "/ROWS"].map((path) => ({ method: "GET", path, rule: RULE }));
    for (const content of [
      ...["{", "{}", routesOf({ ...RULE, grain: "3" }), routesOf({ ...RULE, other: 1 })],
      ...[{ routes: overlapping }, { routes: [{ method: "HEAD", path: "/rows", rule: RULE }] }].map((file) =>
        JSON.stringify(file),
      ),
    ]) {
      const path = home.write("malformed.json", content);
      expect(codeOf(await terms("--routes", path, "--out", out))).to.deep.equal([2, "FILE_UNREADABLE"]);
    }
    expect(existsSync(out)).to.equal(false);
  });
});
