import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { TypedDataEncoder, Wallet } from "ethers";
import {
  type Address,
  type AddressSchedule,
  addMonths,
  addressInSchedule,
  assertSchedule,
  checkSchedule,
  deriveKeys,
  MAX_SCHEDULE_LENGTH,
  MAX_SCHEDULE_MONTHS,
  MAX_SIGNATURE_BYTES,
  parseMonth,
  parseSchedule,
  parseScheduleReference,
  payableMonths,
  SCHEDULE_PATH,
  scheduleDigest,
  scheduleJson,
  scheduleMonths,
  scheduleRequest,
  scheduleTypedData,
} from "../src/index.ts";
import { DEPLOYMENT } from "./support/deployment.ts";

/** The account's private key is 1, as in the vector of a binding. */
const owner = new Wallet(`0x${"1".padStart(64, "0")}`);
const keys = deriveKeys(new Uint8Array(32).fill(7), DEPLOYMENT);
const first = parseMonth("2026-12");
const keyOf = (index: number) => keys.ofMonth(addMonths(first, index)).shieldedAddress.slice(0, 66);
const schedule: AddressSchedule = {
  wallet: owner.address.toLowerCase() as Address,
  ...DEPLOYMENT,
  pool: DEPLOYMENT.pool as Address,
  ownerTag: keys.ownerTag(0),
  sequence: 3,
  issuedAt: 1_796_000_100,
  firstMonth: first,
  keys: [0, 1, 2].map(keyOf),
};
const DIGEST = "0x0e1dd48a6ec5a4ce20d6aef10a024ea610369014f636bd211748d74a71ee9e56";
const now = schedule.issuedAt * 1000;
const REFUSED = `0x${"00".repeat(32)}`;
const refusing = async () => REFUSED;
const sign = (of: AddressSchedule, signer = owner) => {
  const { domain, types, message } = scheduleTypedData(of);
  return signer.signTypedData(domain, types, message);
};

describe("a schedule of addresses", () => {
  it("never changes its digest, because old signatures must stay valid", async () => {
    expect(scheduleDigest(schedule)).to.equal(DIGEST);
    const { domain, types, message } = scheduleTypedData(schedule);
    expect(TypedDataEncoder.hash(domain, types, message)).to.equal(DIGEST);
    const page = readFileSync(join(import.meta.dirname, "..", "..", "..", "docs", "protocol.md"), "utf8");
    expect(page).to.include(`\`${TypedDataEncoder.from({ ...types }).encodeType("AddressSchedule")}\``);
    expect(JSON.parse(scheduleRequest(schedule)).types).to.have.all.keys("EIP712Domain", "AddressSchedule");
  });

  it("names the address of each of its months, and of no other", () => {
    expect(scheduleMonths(schedule)).to.deep.equal(["2026-12", "2027-01", "2027-02"]);
    for (const month of scheduleMonths(schedule))
      expect(addressInSchedule(schedule, month)).to.equal(keys.ofMonth(month).shieldedAddress);
    for (const month of ["2026-11", "2027-03"])
      expect(addressInSchedule(schedule, parseMonth(month))).to.equal(undefined);
    expectCode("INVALID_MONTH", () => addressInSchedule(schedule, "2026" as never));
  });

  it("is valid if its wallet signed exactly it, for 400 days", async () => {
    const signature = await sign(schedule);
    const check = (value: unknown, at = now, of = signature) => checkSchedule(value, of, refusing, at);
    expect(await check(schedule)).to.equal(undefined);
    expect(await check(schedule, now + 399 * 86_400_000)).to.equal(undefined);
    expect(await check(schedule, now + 400 * 86_400_000)).to.match(/400 days/);
    expect(await check(schedule, now - 3_600_000)).to.match(/in the future/);
    const changes: Partial<AddressSchedule>[] = [
      { wallet: `0x${"12".repeat(20)}` },
      { chainId: schedule.chainId + 1n },
      { pool: `0x${"13".repeat(20)}` },
      { ownerTag: schedule.ownerTag + 1n },
      { sequence: 4 },
      { issuedAt: schedule.issuedAt - 300 },
      { firstMonth: parseMonth("2027-01") },
      { keys: schedule.keys.slice(0, 2) },
      { keys: [...schedule.keys, keyOf(3)] },
      { keys: schedule.keys.toReversed() },
    ];
    for (const change of changes)
      expect(await check({ ...schedule, ...change }), Object.keys(change).join()).to.match(/did not sign/);
    expect(await check(schedule, now, await sign(schedule, new Wallet(`0x${"43".repeat(32)}`)))).to.match(
      /did not sign/,
    );
    expect(await check(schedule, now, "0x1")).to.match(/hex/);
    const unreachable = () => Promise.reject(new Error("unreachable"));
    const stranger = await sign(schedule, new Wallet(`0x${"43".repeat(32)}`));
    const error = await checkSchedule(schedule, stranger, unreachable, now).catch((cause: unknown) => cause);
    expect(error).to.have.property("code", "BINDING_UNCHECKED");
  });

  it("travels as JSON, whose text has a limit", async () => {
    const signature = await sign(schedule);
    const text = JSON.stringify(scheduleJson({ schedule, signature }));
    expect(parseSchedule(JSON.parse(text))).to.deep.equal({ schedule, signature });
    expect(parseSchedule({ ...JSON.parse(text), later: 1 }).schedule).to.deep.equal(schedule);
    const most = Array.from({ length: MAX_SCHEDULE_MONTHS }, (_, index) => keyOf(index));
    const largest = { schedule: { ...schedule, keys: most }, signature: `0x${"ab".repeat(MAX_SIGNATURE_BYTES)}` };
    expect(JSON.stringify(scheduleJson(largest)).length).to.be.within(17_000, MAX_SCHEDULE_LENGTH);
  });

  it("is refused if malformed, with the field's name", async () => {
    const json = { ...scheduleJson({ schedule, signature: await sign(schedule) }) };
    const refused = (change: object, reason: RegExp) =>
      expectCode("SCHEDULE_INVALID", () => parseSchedule({ ...json, ...change }), reason);
    const identity = `0x01${"00".repeat(31)}`;
    refused({ type: "sotto-binding" }, /type/);
    refused({ version: 2 }, /version/);
    refused({ wallet: "0x12" }, /wallet/);
    refused({ chainId: "01" }, /chainId/);
    refused({ pool: null }, /pool/);
    refused({ ownerTag: 5 }, /ownerTag/);
    for (const sequence of [0, -1, 1.5, "1", 2 ** 53]) refused({ sequence }, /sequence/);
    refused({ sequence: schedule.issuedAt + 3_601 }, /an hour after issuedAt.* a later schedule can have a higher one/);
    const highest = { ...json, sequence: schedule.issuedAt + 3_600 };
    expect(parseSchedule(highest).schedule.sequence, "control").to.equal(highest.sequence);
    refused({ issuedAt: schedule.issuedAt + 1 }, /multiple of 300/);
    refused({ firstMonth: "2026-13" }, /firstMonth/);
    refused({ firstMonth: "2099-12" }, /2099/);
    for (const list of [[], "0x", Array.from({ length: 14 }, (_, index) => keyOf(index))])
      refused({ keys: list }, /1 to 13/);
    refused({ keys: [identity] }, /keys\[0\]/);
    refused({ keys: [keyOf(0), `0x${"ff".repeat(32)}`] }, /keys\[1\]/);
    refused({ keys: [keyOf(0), keyOf(0)] }, /same key/);
    refused({ signature: "0x" }, /signature/);
    for (const value of [null, [], "x", 5]) expectCode("SCHEDULE_INVALID", () => parseSchedule(value));
    expect(parseSchedule(json).schedule, "the control").to.deep.equal(assertSchedule(schedule));
  });
});

describe("the reference to a schedule", () => {
  const digest = DIGEST;

  it("is a path of the server's origin and a digest", () => {
    for (const path of [SCHEDULE_PATH, "/", "/a?b=c&d", `/${"x".repeat(255)}`]) {
      expect(parseScheduleReference({ path, digest, more: 1 })).to.deep.equal({ path, digest });
      expect(new URL(`https://data.example${path}`).origin).to.equal("https://data.example");
    }
  });

  it("names no other host, and nothing that a URL cannot keep", () => {
    const paths = [
      "",
      "x",
      "//evil.example/a",
      "/\\evil.example",
      "https://evil.example/",
      "@evil.example",
      ".evil.example",
    ];
    const others = [":444/", "/a b", "/a\n", "/a#b", "/\u00e9", `/${"x".repeat(256)}`, undefined, null, 5, ["/"]];
    for (const path of [...paths, ...others])
      expectCode("INVALID_STRING", () => parseScheduleReference({ path, digest }));
    for (const wrong of [undefined, 5, "", "0x", digest.slice(2), digest.toUpperCase(), `${digest}00`])
      expectCode("INVALID_HEX", () => parseScheduleReference({ path: "/", digest: wrong }));
    for (const wrong of [undefined, null, 5, "x", []])
      expectCode("INVALID_ARGUMENT", () => parseScheduleReference(wrong));
  });
});

describe("the months whose addresses may be paid", () => {
  const since = Date.UTC(2026, 10, 30, 23, 59);
  const december = Date.UTC(2026, 11, 31, 23, 59);

  it("go from the pool's deployment to the end of the longest schedule", () => {
    const months = payableMonths(since, december);
    expect(months).to.deep.equal(Array.from({ length: 15 }, (_, index) => addMonths(parseMonth("2026-11"), index)));
    // A schedule whose first month is the next one.
    expect(months.at(-1)).to.equal(addMonths(parseMonth("2027-01"), MAX_SCHEDULE_MONTHS - 1));
    expect(payableMonths(since, december + 60_000).at(-1)).to.equal("2028-02");
    expect(payableMonths(since + 60_000, december)[0]).to.equal("2026-12");
  });

  it("are none outside 2020 to 2099, and refused if a schedule would end later", () => {
    expect(payableMonths(Date.UTC(2019, 11, 31), december)).to.deep.equal([]);
    expect(payableMonths(since, Date.UTC(2100, 0))).to.deep.equal([]);
    expect(payableMonths(since, Date.UTC(2098, 10)).at(-1)).to.equal("2099-12");
    expectCode("INVALID_MONTH", () => payableMonths(since, Date.UTC(2098, 11)));
    for (const time of [-1, 1.5]) {
      expectCode("INVALID_INTEGER", () => payableMonths(time, december));
      expectCode("INVALID_INTEGER", () => payableMonths(since, time));
    }
  });
});
