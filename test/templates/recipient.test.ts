// The recipient of the templates of resource servers, over several months.
import { readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  AddressBook,
  addressesDue,
  addressInSchedule,
  checkMonthAddresses,
  decodeShieldedAddress,
  deriveKeys,
  encryptAmount,
  formatViewingKeys,
  hintOf,
  noteCommitment,
  noteSecrets,
  parseMonth,
  randomScalar,
  SUBGROUP_ORDER,
  scheduleMonths,
  tryDecrypt,
} from "@sotto/protocol";
import type { MonthRecipient } from "@sotto/resource-server";
import { anyRejection } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { seedFromWords, viewingKeysOf } from "@sotto/wallet";
import { expect } from "chai";
import { Owner, type Pool } from "../../packages/create-sotto/templates/resource-server/src/owner.ts";
import { onEvent, openRecipient } from "../../packages/create-sotto/templates/resource-server/src/recipient.ts";

const DEPLOYMENT = { chainId: 31337, pool: `0x${"ab".repeat(20)}` } as const;

describe("the recipient of a template", () => {
  let folder: string;
  let now: number;
  let log: string[];
  const { log: print, warn } = console;
  beforeEach(() => {
    folder = join(temporaryFolder("recipient"), "data");
    now = Date.parse("2026-12-31T23:58:00Z");
    log = [];
    console.log = (text: string) => void log.push(text);
    console.warn = (text: string) => void log.push(`warning: ${text}`);
  });
  afterEach(() => {
    console.log = print;
    console.warn = warn;
  });

  const open = (deployment: Pool = DEPLOYMENT) => openRecipient(folder, deployment, () => now);
  const file = (name: string) => join(folder, name);
  const moveOwner = () => renameSync(file("owner.json"), join(folder, "..", "owner.json"));
  const monthsOf = ({ viewingKeys }: MonthRecipient) => {
    const keys = typeof viewingKeys === "function" ? viewingKeys() : viewingKeys;
    return keys?.keys.map(({ month }) => month);
  };
  const bookOf = ({ addresses }: MonthRecipient) => new AddressBook(addresses);

  it("creates the owner once, with addresses of twelve months that it signed", async () => {
    const recipient = await open();
    const { newest } = bookOf(recipient);
    const months = scheduleMonths(newest.schedule);
    expect([months[0], months.at(-1), months.length]).to.deep.equal(["2026-12", "2027-11", 12]);
    expect(await checkMonthAddresses(newest, () => Promise.reject(new Error("no node")), now)).to.equal(undefined);
    expect(readdirSync(folder).sort()).to.deep.equal(["addresses", "owner.json", "viewing-keys.json"]);
    expect(log).to.deep.equal([
      `Created ${file("owner.json")}, which spends what this server earns:\nmove it to a safe place.`,
      "Addresses until 2027-11; viewing keys: 2026-11 to 2026-12.",
    ]);
    for (const name of ["owner.json", "viewing-keys.json"])
      expect(statSync(file(name)).mode & 0o777, name).to.equal(0o600);
    const again = await open();
    expect(bookOf(again).newest).to.deep.equal(newest);
    expect(log).to.have.lengthOf(3);
  });

  it("creates no second owner and no other addresses if two servers start at the same time", async () => {
    const [first, second] = await Promise.all([
      openRecipient(folder, DEPLOYMENT, () => now),
      openRecipient(folder, DEPLOYMENT, () => now + 5_000),
    ]);
    expect(bookOf(second).newest).to.deep.equal(bookOf(first).newest);
    const owner = readFileSync(file("owner.json"), "utf8");
    log = [];
    new Owner(file("owner.json"), DEPLOYMENT).create();
    expect(readFileSync(file("owner.json"), "utf8")).to.equal(owner);
    expect(log).to.deep.equal([]);
  });

  it("continues in January, with another address and the keys of two months", async () => {
    const recipient = await open();
    const before = bookOf(recipient).at(now);
    expect(monthsOf(recipient)).to.deep.equal(["2026-11", "2026-12"]);
    now += 240_000;
    const after = bookOf(recipient).at(now);
    expect([before?.month, after?.month]).to.deep.equal(["2026-12", "2027-01"]);
    expect(after?.binding.key).not.to.equal(before?.binding.key);
    expect(monthsOf(recipient)).to.deep.equal(["2026-12", "2027-01"]);
    expect(readFileSync(file("viewing-keys.json"), "utf8")).to.not.contain("2026-11");
  });

  it("signs new addresses once a paywall warns that they end, and keeps the earlier ones", async () => {
    await open();
    const due = addressesDue(parseMonth("2027-11"));
    now = due - 1;
    expect(bookOf(await open()).newest.bindings[0]?.month).to.equal("2026-12");
    now = due;
    const book = bookOf(await open());
    expect(log.at(-1)).to.match(/^Addresses until 2028-09; /);
    expect(readdirSync(file("addresses")).map((name) => name.slice(-12))).to.deep.equal([
      "2026-12.json",
      "2027-10.json",
    ]);
    expect(book.newest.bindings.map(({ month }) => month)).to.include.members(["2027-10", "2028-09"]);
    expect(book.acceptedAt(Date.parse("2027-02-03T00:00:00Z"))).to.have.lengthOf(1);
    now += 60_000;
    expect(bookOf(await open()).newest).to.deep.equal(book.newest);
  });

  it("continues without its owner, warns once a month, and reads keys and addresses that the owner delivers", async () => {
    await open();
    const { words } = JSON.parse(readFileSync(file("owner.json"), "utf8")) as { words: string };
    moveOwner();
    const recipient = await open();
    now += 240_000;
    log = [];
    for (let i = 0; i < 3; i++) expect(monthsOf(recipient)).to.deep.equal(["2026-11", "2026-12"]);
    expect(log).to.deep.equal([
      `warning: ${file("viewing-keys.json")} has no valid key of 2027-01: write it with "sotto view-key --next"`,
    ]);
    expect(bookOf(recipient).at(now)?.month).to.equal("2027-01");
    // Half of a copy.
    writeFileSync(file("viewing-keys.json"), "{");
    for (let i = 0; i < 3; i++) expect(monthsOf(recipient)).to.deep.equal(["2026-11", "2026-12"]);
    const keys = deriveKeys(seedFromWords(words), { chainId: 31337n, pool: DEPLOYMENT.pool });
    const next = viewingKeysOf(keys, { months: ["2026-12", "2027-01"].map((month) => parseMonth(month)) });
    writeFileSync(file("viewing-keys.json"), formatViewingKeys(next, DEPLOYMENT));
    expect(monthsOf(recipient)).to.deep.equal(["2026-12", "2027-01"]);
    expect(log).to.have.lengthOf(1);
  });

  it("signs anew for another pool or chain while the owner is here, and keeps the addresses of each", async () => {
    const pools = [DEPLOYMENT, { ...DEPLOYMENT, pool: `0x${"ba".repeat(20)}` }, { ...DEPLOYMENT, chainId: 1 }] as const;
    for (const pool of pools) await open(pool);
    const owner = readFileSync(file("owner.json"), "utf8");
    expect(log.filter((line) => line.startsWith("Created "))).to.have.lengthOf(1);
    moveOwner();
    for (const pool of pools) {
      const { schedule } = bookOf(await open(pool)).newest;
      expect([schedule.pool, schedule.chainId]).to.deep.equal([pool.pool, BigInt(pool.chainId)]);
    }
    const error = await anyRejection(open({ ...DEPLOYMENT, chainId: 10 }));
    expect(error.message).to.match(
      /addresses has none for the pool 0xabab.* on chain 10: write them with "sotto address schedule"$/,
    );
    expect(readdirSync(folder)).to.not.include("owner.json");
    expect(readFileSync(join(folder, "..", "owner.json"), "utf8")).to.equal(owner);
  });

  it("shows a thief of its folder the payments of two months, and none of another (control: the owner's words)", async () => {
    now = Date.parse("2027-02-10T12:00:00Z");
    await open();
    now = Date.parse("2027-03-10T12:00:00Z");
    const { schedule } = bookOf(await open()).newest;
    const { words } = JSON.parse(readFileSync(file("owner.json"), "utf8")) as { words: string };
    moveOwner();
    const stolen = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"))
      .join();
    // Everything in the folder that may be a key.
    const numbers = [...stolen.matchAll(/[0-9a-f]{64}/g)].map(([text]) => BigInt(`0x${text}`));
    const found = numbers.filter((number) => number % 2n === 1n && number < SUBGROUP_ORDER);
    const months = scheduleMonths(schedule);
    const opened = (viewingKeys: readonly bigint[]) =>
      months.filter((month) => {
        const { encryptionKey, ownerTag } = decodeShieldedAddress(addressInSchedule(schedule, month) ?? "");
        const { R, S } = encryptAmount(encryptionKey, 5n, randomScalar());
        const { blinding, pad } = noteSecrets(S.x, R.x);
        const recipientCommitment = noteCommitment({ amount: 5n, ownerTag, blinding });
        const note = { ephemeralX: R.x, amountHint: hintOf(pad, 5n), recipientCommitment };
        return tryDecrypt({ viewingKeys, ownerTag }, note) !== null;
      });
    expect(opened(found)).to.deep.equal(["2027-02", "2027-03"]);
    const keys = deriveKeys(seedFromWords(words), { chainId: 31337n, pool: DEPLOYMENT.pool });
    expect(opened(months.map((month) => keys.ofMonth(month).viewingKey))).to.deep.equal(months);
    expect(stolen).to.not.include(words);
  });

  it("tells the operator that the addresses end", () => {
    onEvent({ event: "addresses", month: parseMonth("2027-11"), days: 29 });
    expect(log).to.deep.equal([
      "warning: The addresses end with 2027-11. If owner.json is in its folder, a restart renews them; " +
        'otherwise add new ones with "sotto address schedule", and restart.',
    ]);
  });
});
