import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { Wallet } from "ethers";
import {
  type Address,
  AddressBook,
  addMonths,
  addressesDue,
  addressesEnd,
  assertMonthAddresses,
  assertSchedule,
  bindingTypedData,
  checkMonthAddresses,
  deriveKeys,
  MAX_ADDRESSES_LENGTH,
  MAX_SCHEDULE_MONTHS,
  MAX_SIGNATURE_BYTES,
  type Month,
  type MonthAddresses,
  monthAddressesJson,
  monthBindings,
  monthEnd,
  monthStart,
  parseMonth,
  parseMonthAddresses,
  SCHEDULE_PATH,
  scheduleDigest,
  scheduleTypedData,
} from "../src/index.ts";
import { DEPLOYMENT } from "./support/deployment.ts";

const owner = new Wallet(`0x${"1".padStart(64, "0")}`);
const stranger = new Wallet(`0x${"2".padStart(64, "0")}`);
const keys = deriveKeys(new Uint8Array(32).fill(7), DEPLOYMENT);
const first = parseMonth("2026-12");
const ISSUED = 1_796_000_100;
const NUMBER = "+4915550123456";
const DAY_MS = 86_400_000;
const refusing = async () => `0x${"00".repeat(32)}`;

interface Changes {
  readonly months?: number;
  readonly firstMonth?: Month;
  readonly sequence?: number;
  readonly phone?: string;
  readonly seed?: number;
}

async function sign({ months = 3, firstMonth = first, sequence = 1, phone = "", seed = 7 }: Changes = {}) {
  const from = seed === 7 ? keys : deriveKeys(new Uint8Array(32).fill(seed), DEPLOYMENT);
  const schedule = assertSchedule({
    wallet: owner.address.toLowerCase() as Address,
    ...DEPLOYMENT,
    ownerTag: from.ownerTag(0),
    sequence,
    issuedAt: ISSUED,
    firstMonth,
    keys: Array.from({ length: months }, (_, i) => from.ofMonth(addMonths(firstMonth, i)).shieldedAddress.slice(0, 66)),
  });
  const signed = (typed: { domain: object; types: object; message: object }) =>
    owner.signTypedData(typed.domain, { ...typed.types } as never, typed.message);
  const bindings = await Promise.all(
    monthBindings(schedule, { phone }).map(async (one) => ({
      ...one,
      signature: await signed(bindingTypedData(one.binding)),
    })),
  );
  return assertMonthAddresses({ schedule, signature: await signed(scheduleTypedData(schedule)), bindings });
}

describe("addresses of months", () => {
  let addresses: MonthAddresses;
  before(async () => {
    addresses = await sign({ phone: NUMBER });
  });

  it("survive their JSON, which has no binding twice", () => {
    const json = JSON.parse(JSON.stringify(monthAddressesJson(addresses)));
    expect(json).to.have.all.keys("type", "version", "schedule", "phone", "service", "signatures");
    expect(parseMonthAddresses(json)).to.deep.equal(addresses);
    expect(parseMonthAddresses({ ...json, later: 1 })).to.deep.equal(addresses);
    expect(assertMonthAddresses(addresses)).to.equal(addresses);
  });

  it("fit into the maximum length with the longest signatures", async () => {
    const long = `0x${"ff".repeat(MAX_SIGNATURE_BYTES)}`;
    const { schedule } = await sign({ months: MAX_SCHEDULE_MONTHS });
    const service = `https://registry.example/${"x".repeat(231)}`;
    const bindings = monthBindings(schedule, { phone: NUMBER, service }).map((one) => ({ ...one, signature: long }));
    const json = JSON.stringify(monthAddressesJson({ schedule, signature: long, bindings }), undefined, 2);
    expect(json.length).to.be.within(MAX_ADDRESSES_LENGTH * 0.9, MAX_ADDRESSES_LENGTH);
  });

  it("are refused if a field is malformed, without the phone number in the message", () => {
    const json = monthAddressesJson(addresses);
    const { signatures, schedule } = json;
    const wrong: object[] = [
      { type: "sotto-address-schedule" },
      { version: 2 },
      { schedule: { ...schedule, sequence: 0 } },
      { phone: `${NUMBER}x` },
      { phone: undefined },
      { service: 5 },
      { signatures: signatures.slice(1) },
      { signatures: [...signatures, signatures[0]] },
      { signatures: ["0x", ...signatures.slice(1)] },
      { signatures: "0x00" },
    ];
    for (const changes of wrong) {
      const error = expectCode("SCHEDULE_INVALID", () => parseMonthAddresses({ ...json, ...changes }));
      expect(error.message).to.not.include("15550123456");
    }
    for (const value of [null, [], "x"]) expectCode("SCHEDULE_INVALID", () => parseMonthAddresses(value));
  });

  it("are refused if a binding is not that of its month's address", () => {
    const { bindings } = addresses;
    const [one, two] = [bindings[0]!, bindings[1]!];
    const wrong = [
      [two, one, bindings[2]!],
      [one, { ...two, binding: { ...two.binding, phone: "" } }, bindings[2]!],
      [one, { ...two, binding: { ...two.binding, issuedAt: ISSUED + 300 } }, bindings[2]!],
      [one, { ...two, month: one.month }, bindings[2]!],
      [one, null, bindings[2]!],
      bindings.slice(1),
    ];
    for (const changed of wrong)
      expectCode("SCHEDULE_INVALID", () => assertMonthAddresses({ ...addresses, bindings: changed }));
    expect(assertMonthAddresses({ ...addresses, bindings: [...bindings] })).to.deep.equal(addresses);
  });

  it("are valid if the wallet signed the schedule and every address that may still be paid", async () => {
    const { bindings, schedule } = addresses;
    const check = (value: unknown, now = ISSUED * 1000) => checkMonthAddresses(value, refusing, now);
    expect(await check(addresses)).to.equal(undefined);
    const forged = await stranger.signTypedData(...typed(bindings[0]!.binding));
    const without = (index: number) => ({
      ...addresses,
      bindings: bindings.map((one, i) => (i === index ? { ...one, signature: forged } : one)),
    });
    expect(await check(without(0))).to.match(/^the address of 2026-12: the wallet did not sign/);
    expect(await check(without(2))).to.match(/^the address of 2027-02: /);
    expect(await check(without(0), monthStart(parseMonth("2027-01")))).to.equal(undefined);
    expect(await check({ ...addresses, signature: forged })).to.match(/did not sign the schedule/);
    expect(await check(addresses, (ISSUED + 400 * 86_400) * 1000)).to.match(/400 days/);
    expect(await check({ schedule })).to.match(/bindings must be an array/);
  });

  it("end with the last month, or with the signatures", async () => {
    expect(addressesEnd(addresses.schedule)).to.equal(monthEnd(parseMonth("2027-02")));
    const { schedule } = await sign({ months: 13, firstMonth: parseMonth("2027-01") });
    expect(addressesEnd(schedule)).to.equal((ISSUED + 400 * 86_400) * 1000);
  });

  it("are due 30 days before the last month begins", () => {
    expect(addressesDue(parseMonth("2026-12"))).to.equal(Date.UTC(2026, 10, 1));
    expectCode("INVALID_MONTH", () => addressesDue("2026-13" as Month));
  });
});

const typed = (binding: Parameters<typeof bindingTypedData>[0]) => {
  const { domain, types, message } = bindingTypedData(binding);
  return [domain, { ...types }, message] as Parameters<Wallet["signTypedData"]>;
};

describe("the addresses of a server", () => {
  const start = monthStart(parseMonth("2027-01"));
  const keyOf = (month: string) => keys.ofMonth(parseMonth(month)).shieldedAddress;
  let old: MonthAddresses;
  let book: AddressBook;
  before(async () => {
    old = await sign({ months: 2, firstMonth: parseMonth("2026-11") });
    book = new AddressBook([old, await sign({ sequence: 2 })]);
  });

  it("change at the month's start, to the millisecond", () => {
    const at = (ms: number) => book.at(ms)?.binding.key;
    expect(at(start - 1)).to.equal(keyOf("2026-12"));
    expect(at(start)).to.equal(keyOf("2027-01"));
    expect(at(monthStart(first) - 1)).to.equal(undefined);
    expect(at(monthEnd(parseMonth("2027-02")))).to.equal(undefined);
    const { digest, path } = book.at(start)!.schedule;
    expect({ digest, path }).to.deep.equal({ digest: scheduleDigest(book.newest.schedule), path: SCHEDULE_PATH });
  });

  it("are those of the highest sequence; those of others count for what was paid before", () => {
    expect(book.newest.schedule.sequence).to.equal(2);
    expect(book.listed.map(({ month }) => month)).to.deep.equal(["2026-12", "2027-01", "2027-02"]);
    const keysAt = (ms: number) => book.acceptedAt(ms).map(({ binding }) => binding.key);
    expect(keysAt(monthStart(parseMonth("2026-11")) + DAY_MS)).to.deep.equal([keyOf("2026-11")]);
    expect(keysAt(start - DAY_MS)).to.deep.equal([keyOf("2026-12"), keyOf("2026-12")]);
    expect(new Set(book.acceptedAt(start - DAY_MS).map(({ schedule }) => schedule.digest)).size).to.equal(2);
  });

  it("count for ten minutes before and after their month", () => {
    const monthsAt = (ms: number) => [...new Set(book.acceptedAt(ms).map(({ month }) => month))];
    expect(monthsAt(start - 600_001)).to.deep.equal(["2026-12"]);
    expect(monthsAt(start - 600_000)).to.deep.equal(["2026-12", "2027-01"]);
    expect(monthsAt(start + 599_999)).to.deep.equal(["2027-01", "2026-12"]);
    expect(monthsAt(start + 600_000)).to.deep.equal(["2027-01"]);
  });

  it("do not count at times that no month has", () => {
    for (const ms of [0, Date.UTC(2019, 5), Date.UTC(2101, 0), Number.NaN, -1, 0.5, undefined, "1", 2 ** 60])
      expect([book.acceptedAt(ms as number), book.at(ms as number)], String(ms)).to.deep.equal([[], undefined]);
    expect(book.missingAt(0)).to.match(
      /no address for 1970-01-01T00:00:00.000Z.*only for 2026-12 to 2027-02; .*set it$/,
    );
    expect(book.missingAt(Number.NaN)).to.include("no address for null");
  });

  it("are of one wallet, tag and pool, with different sequences", async () => {
    const foreign = await sign({ sequence: 3, seed: 8 });
    expectCode("SCHEDULE_INVALID", () => new AddressBook([old, foreign]));
    expectCode("SCHEDULE_INVALID", () => new AddressBook([]));
    for (const value of [undefined, null, 5, "x", {}, [{}]])
      expectCode("SCHEDULE_INVALID", () => new AddressBook(value as never));
    const same = await sign({ months: 4 });
    const error = expectCode("SCHEDULE_INVALID", () => new AddressBook([same, old]));
    expect(String(error)).to.match(/same sequence number/);
    expect(new AddressBook([old, old]).newest).to.equal(old);
  });
});
