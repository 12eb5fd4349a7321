// Keys and signed prices over several months, without a network.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { laterEpoch, type MeteredRouteRule } from "@sotto/prepaid";
import { type Credit, openCredit, type Place } from "../src/credit.ts";
import { Owner } from "../src/owner.ts";
import { signedPrices } from "../src/price.ts";

const deployment = { chainId: 31337, pool: `0x${"ab".repeat(20)}` } as const;
const route: MeteredRouteRule = {
  method: "POST",
  path: "/chat",
  rule: { base: 0n, units: [{ name: "output", price: 1n, per: 1 }], cap: 20n, grain: 20n },
};
const place: Place = { deployment, origin: "https://model.example", route };

let folder: string;
let now: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "credit-"));
  now = Date.parse("2026-11-29T12:00:00Z");
  new Owner(join(folder, "owner.json"), deployment).create();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (changes: Partial<Place> = {}) => openCredit(folder, { ...place, ...changes }, () => now);
const moveOwner = () => renameSync(join(folder, "owner.json"), join(folder, "moved"));
/** The months of the signed prices, of the tokens' keys and of the receipts' keys. */
const monthsOf = ({ tokens, terms }: Credit) => ({
  signed: terms.terms.flatMap(({ terms: { firstEpoch, receiptKeys } }) =>
    receiptKeys.map((_, i) => laterEpoch(firstEpoch, i)),
  ),
  tokens: tokens.keys.keys.map(({ epoch }) => epoch),
  receipts: terms.receiptKeys.keys.map(({ epoch }) => epoch),
});
const each = (...months: string[]) => ({ signed: months, tokens: months, receipts: months });

test("the first start signs three months, and later ones read them", async () => {
  const credit = await open();
  assert.deepEqual(monthsOf(credit), each("2026-11", "2026-12", "2027-01"));
  assert.equal(readdirSync(join(folder, "credit")).length, 1);
  now = Date.parse("2026-12-31T12:00:00Z");
  assert.deepEqual(await open(), credit);
});

test("a start in the last month adds three months, and the keys of before stay while their tokens are accepted", async () => {
  await open();
  now = Date.parse("2027-01-01T00:00:00Z");
  const before = ["2026-11", "2026-12", "2027-01"];
  const added = ["2027-02", "2027-03", "2027-04"];
  assert.deepEqual(monthsOf(await open()), each(...before, ...added));
  now = Date.parse("2027-02-28T12:00:00Z");
  assert.deepEqual(monthsOf(await open()), each(...before, ...added));
  now = Date.parse("2027-03-01T00:00:00Z");
  assert.deepEqual(monthsOf(await open()), each(...added));
});

test("without its owner, a server serves only the months that are signed", async () => {
  await open();
  moveOwner();
  now = Date.parse("2027-01-31T12:00:00Z");
  assert.deepEqual(monthsOf(await open()), each("2026-11", "2026-12", "2027-01"));
  now = Date.parse("2027-02-01T00:00:00Z");
  await assert.rejects(open(), /has no keys of 2027-02: put owner\.json into /);
});

test("a changed price applies from the first month whose price is not signed", async () => {
  const dearer = { ...route, rule: { ...route.rule, cap: 50n, grain: 50n } };
  const capAt = async (time: string) => {
    now = Date.parse(time);
    const { rule, quote } = signedPrices((await open({ route: dearer })).terms.terms, route.path, () => now)();
    assert.equal(quote.amount, rule.cap);
    return rule.cap;
  };
  await open();
  assert.equal(await capAt("2026-11-29T12:00:00Z"), 20n);
  // This start signs the changed price for the next months.
  assert.equal(await capAt("2027-01-15T12:00:00Z"), 20n);
  assert.equal(await capAt("2027-01-31T23:59:59.999Z"), 20n);
  assert.equal(await capAt("2027-02-01T00:00:00Z"), 50n);
});

test("a server that runs over the end of a month changes to the price of the next one", async () => {
  await open();
  now = Date.parse("2027-01-31T23:59:59Z");
  const { terms } = await open({ route: { ...route, rule: { ...route.rule, cap: 50n, grain: 50n } } });
  const priceNow = signedPrices(terms.terms, route.path, () => now);
  assert.equal(priceNow().rule.cap, 20n);
  now += 1_000;
  assert.equal(priceNow().rule.cap, 50n);
  assert.throws(() => signedPrices(terms.terms, "/other"), /have no POST \/other$/);
});

test("another origin and another pool have keys of their own", async () => {
  const first = await open();
  for (const other of [
    { origin: "http://127.0.0.1:3000" },
    { origin: "http://model.example" },
    { deployment: { ...deployment, pool: `0x${"ba".repeat(20)}` as const } },
  ])
    assert.notDeepEqual((await open(other)).tokens, first.tokens);
  assert.deepEqual(await open(), first);
  moveOwner();
  await assert.rejects(open({ origin: "https://other.example" }), /has no keys of 2026-11/);
});

test("two servers that start at the same time have the same keys", async () => {
  const [first, second] = await Promise.all([open(), open()]);
  assert.deepEqual(first, second);
});
