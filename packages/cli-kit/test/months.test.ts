// Addresses and keys of months: the files that the commands write, and their dates.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  checkBinding,
  checkSchedule,
  deriveKeys,
  type EthCall,
  monthStart,
  parseMonth,
  parseMonthAddresses,
  parseViewingKeys,
  scheduleDigest,
  scheduleMonths,
  type WalletKeys,
} from "@sotto/protocol";
import { seedFromWords } from "@sotto/wallet";
import { expect } from "chai";
import { DEAD_CONFIG, DeadHome } from "./support/run.ts";

const PLACE = { chainId: 31337n, pool: DEAD_CONFIG.pool };
const at = (text: string): number => Date.parse(`${text}Z`);
const MARCH = parseMonth("2026-03");

describe("keys of months", () => {
  let home: DeadHome;
  let keys: WalletKeys;
  beforeEach(() => {
    home = new DeadHome();
    home.time = at("2026-11-10T12:00");
    keys = deriveKeys(seedFromWords(home.words), PLACE);
  });

  const path = (name: string) => join(home.folder, name);
  const read = (name: string) => parseViewingKeys(readFileSync(path(name), "utf8"), PLACE);
  async function json<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await home.run([...args, "--json"]);
    expect(code, stderr).to.equal(0);
    return JSON.parse(stdout) as T;
  }
  /** The exit code and the error code. */
  async function ends(...args: string[]): Promise<string> {
    const { code, stderr } = await home.run(args);
    return `${code} ${/^sotto: ([A-Z_]+)/.exec(stderr)?.[1]}`;
  }

  it("view-key writes the keys of one month or of several, readable by the owner only", async () => {
    const file = path("quarter.json");
    expect(await json("view-key", "--from", "2026-01", "--to", "2026-03", "--out", file)).to.deep.equal({
      file,
      months: ["2026-01", "2026-02", "2026-03"],
      lasting: false,
    });
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    const { ownerTag, keys: found } = read("quarter.json");
    expect(ownerTag).to.equal(keys.ownerTag(0));
    expect(found.map(({ month }) => month)).to.deep.equal(["2026-01", "2026-02", "2026-03"]);
    const march = keys.ofMonth(MARCH);
    expect(found[2]).to.deep.equal({
      month: MARCH,
      viewingKey: march.viewingKey,
      shieldedAddress: march.shieldedAddress,
    });
    await json("view-key", "--month", "2026-03", "--lasting", "--out", path("both.json"));
    expect(read("both.json").keys.map(({ shieldedAddress }) => shieldedAddress)).to.deep.equal([
      keys.shieldedAddress(),
      march.shieldedAddress,
    ]);
  });

  it("view-key shows a key on standard output only with --out -", async () => {
    const quiet = await home.run(["view-key", "--month", "2026-03", "--out", path("march.json")]);
    const hex = keys.ofMonth(MARCH).viewingKey.toString(16);
    expect(`${quiet.stdout}${quiet.stderr}`).to.not.include(hex);
    expect(quiet.stdout).to.equal(`viewing keys of 2026-03 written to ${path("march.json")}\n`);
    const shown = await home.run(["view-key", "--month", "2026-03", "--out", "-"]);
    expect(parseViewingKeys(shown.stdout, PLACE)).to.deep.equal(read("march.json"));
  });

  it("view-key and audit-key replace a file only with --replace", async () => {
    for (const name of ["view-key", "audit-key"]) {
      const args = [name, "--month", "2026-03", "--out", home.write(`${name}.json`, "precious")];
      expect(await ends(...args)).to.equal("2 FILE_EXISTS");
      expect(home.read(`${name}.json`)).to.equal("precious");
      await json(...args, "--replace");
      expect(read(`${name}.json`).keys).to.have.lengthOf(1);
    }
  });

  for (const [time, months] of [
    ["2026-11-01T00:00", ["2026-10", "2026-11"]],
    ["2026-11-27T23:59", ["2026-10", "2026-11"]],
    ["2026-11-28T00:00", ["2026-11", "2026-12"]],
    ["2026-12-28T23:59", ["2026-11", "2026-12"]],
    ["2026-12-31T23:59", ["2026-12", "2027-01"]],
    ["2027-01-01T00:00", ["2026-12", "2027-01"]],
    ["2028-02-27T00:00", ["2028-02", "2028-03"]],
  ] as const)
    it(`view-key --next writes ${months.join(" and ")} at ${time}`, async () => {
      home.time = at(time);
      await json("view-key", "--next", "--out", path("server.json"));
      expect(read("server.json").keys.map(({ month }) => month)).to.deep.equal(months);
    });

  it("audit-key adds the change keys of its months, and no lasting key", async () => {
    await json("audit-key", "--from", "2026-03", "--to", "2026-04", "--out", path("audit.json"));
    const found = read("audit.json").keys;
    expect(found.map(({ month }) => month)).to.deep.equal(["2026-03", "2026-04"]);
    for (const { month, viewingKey, changeKey } of found) {
      const expected = keys.ofMonth(month!);
      expect([viewingKey, changeKey]).to.deep.equal([expected.viewingKey, expected.changeKey]);
    }
  });

  it("address shows the lasting address, or that of a month", async () => {
    const { shieldedAddress } = keys.ofMonth(MARCH);
    expect(await json("address", "--month", "2026-03")).to.deep.equal({ shieldedAddress, month: "2026-03" });
    expect(await json("address")).to.deep.equal({ shieldedAddress: keys.shieldedAddress() });
  });

  describe("address schedule", () => {
    const call: EthCall = async () => "0x";
    const addresses = () => parseMonthAddresses(JSON.parse(home.read("addresses.json")));
    const sign = (...args: string[]) => json("address", "schedule", "--out", path("addresses.json"), ...args);

    it("signs one schedule and the binding of each month", async () => {
      const made = await sign("--months", "3", "--first", "2026-12");
      const { schedule, signature, bindings } = addresses();
      expect(scheduleMonths(schedule)).to.deep.equal(["2026-12", "2027-01", "2027-02"]);
      expect(await checkSchedule(schedule, signature, call, home.time!)).to.equal(undefined);
      for (const { month, binding, signature: signed } of bindings) {
        expect(binding.key).to.equal(keys.ofMonth(month).shieldedAddress);
        expect(await checkBinding(binding, signed, call, home.time!)).to.equal(undefined);
      }
      expect(made).to.deep.equal({
        file: path("addresses.json"),
        wallet: schedule.wallet,
        firstMonth: "2026-12",
        lastMonth: "2027-02",
        months: 3,
        sequence: schedule.sequence,
        digest: scheduleDigest(schedule),
      });
    });

    it("begins with this month and has twelve by default", async () => {
      expect(await sign()).to.include({ firstMonth: "2026-11", lastMonth: "2027-10", months: 12 });
    });

    it("names a phone number and its registry", async () => {
      await sign("--months", "1", "--phone", "+14155550123", "--service", "https://pay.example/zk");
      expect(addresses().bindings[0]!.binding).to.include({ phone: "+14155550123", service: "https://pay.example/zk" });
    });

    it("refuses months that end after the signatures", async () => {
      expect(await ends("address", "schedule", "--first", "2027-12", "--months", "2")).to.equal("3 SCHEDULE_INVALID");
      expect(existsSync("addresses.json")).to.equal(false);
    });

    it("is never written to a file named -", async () => {
      expect(await ends("address", "schedule", "--out", "-")).to.equal("2 USAGE");
    });

    it("replaces a schedule only with --replace, by one of a higher sequence", async () => {
      const sequence = async (...args: string[]) => (await sign("--months", "1", ...args))["sequence"] as number;
      const first = await sequence();
      expect(await ends("address", "schedule", "--out", path("addresses.json"))).to.equal("2 FILE_EXISTS");
      expect(await sequence("--replace")).to.equal(first + 1);
      // A clock that is set back, and the record of a restored wallet.
      home.time! -= 3_000_000;
      expect(await sequence("--replace")).to.equal(first + 2);
      home.remove("home/months.json");
      expect(await sequence("--replace")).to.equal(first + 3);
      // The clock was a day fast, so no client has accepted that schedule.
      for (const days of [2, -1]) {
        home.time! += days * 86_400_000;
        expect(await sequence("--replace")).to.equal(Math.floor(home.time! / 1000));
      }
      home.write("addresses.json", "{}");
      expect(await ends("address", "schedule", "--replace", "--out", path("addresses.json"))).to.equal(
        "2 FILE_UNREADABLE",
      );
      expect(home.read("addresses.json")).to.equal("{}");
    });
  });

  describe("status", () => {
    const warnings = async () => {
      const { warnings: found } = await json<{ warnings: { code: string }[] }>("status");
      return found.map(({ code }) => code);
    };

    it("shows a wallet that has no schedule, without warnings", async () => {
      expect(await json("status")).to.deep.include({ schedule: null, serverKeys: null, warnings: [] });
      const { stdout } = await home.run(["status"]);
      expect(stdout).to.include("none signed");
    });

    it("warns from 30 days before the last month begins, and after its end", async () => {
      await json("address", "schedule", "--months", "3", "--out", path("addresses.json"));
      const [due, end] = [at("2026-12-02T00:00"), monthStart(parseMonth("2027-02"))];
      for (const [time, expected] of [
        [due - 1, []],
        [due, ["ADDRESSES_ENDING"]],
        [end - 1, ["ADDRESSES_ENDING"]],
        [end, ["ADDRESSES_ENDED"]],
      ] as const) {
        home.time = time;
        expect(await warnings(), String(end - time)).to.deep.equal(expected);
      }
      const { stdout } = await home.run(["status"]);
      expect(stdout).to.match(/^warning: .* ended with 2027-01.*`sotto address schedule --out FILE --home /m);
      await json("address", "schedule", "--out", path("addresses.json"), "--replace");
      expect(await warnings()).to.deep.equal([]);
    });

    it("warns before the first month of a schedule, because a server with it does not start", async () => {
      const args = ["address", "schedule", "--first", "2026-12", "--out", path("addresses.json")];
      expect((await home.run(args)).stdout).to.match(/^warning: .* does not start before 2026-12; /m);
      expect(await warnings()).to.deep.equal(["ADDRESSES_LATER"]);
      home.time = monthStart(parseMonth("2026-12"));
      expect(await warnings()).to.deep.equal([]);
    });

    it("warns in the last three days of a month, until the next month's key was written", async () => {
      const next = (file: string) => json("view-key", "--next", "--replace", "--out", file);
      await next(path("server.json"));
      home.time = at("2026-11-27T23:59");
      expect(await warnings()).to.deep.equal([]);
      home.time = at("2026-11-28T00:00");
      expect(await warnings()).to.deep.equal(["SERVER_KEYS_DUE"]);
      await next(path("server.json"));
      expect(await warnings()).to.deep.equal([]);
      home.time = at("2027-03-01T00:00");
      expect(await warnings()).to.deep.equal(["SERVER_KEYS_DUE"]);
    });

    it("refuses a damaged record and names it", async () => {
      for (const text of [
        "",
        "[]",
        "null",
        '{"version":2}',
        '{"version":1,"serverKeys":"x"}',
        '{"version":1,"schedule":5}',
      ]) {
        home.write("home/months.json", text);
        const { code, stderr } = await home.run(["status"]);
        expect([code, stderr.includes("months.json is malformed; delete it")], text).to.deep.equal([2, true]);
      }
    });
  });
});
