import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import {
  addMonths,
  assertViewingKeys,
  deriveKeys,
  describeKeys,
  describeMonths,
  formatViewingKeys,
  MAX_VIEWING_KEYS,
  monthRange,
  parseMonth,
  parseViewingKeys,
  SUBGROUP_ORDER,
  type ViewingKey,
  type ViewingKeys,
} from "../src/index.ts";
import { DEPLOYMENT } from "./support/deployment.ts";

const keys = deriveKeys(new Uint8Array(32).fill(7), DEPLOYMENT);
const other = deriveKeys(new Uint8Array(32).fill(8), DEPLOYMENT);
const ownerTag = keys.ownerTag(0);
const lasting = { viewingKey: keys.viewingKey, shieldedAddress: keys.shieldedAddress() };
const ofMonth = (text: string, from = keys): ViewingKey => {
  const { month, viewingKey, shieldedAddress } = from.ofMonth(parseMonth(text));
  return { month, viewingKey, shieldedAddress };
};
const set: ViewingKeys = { ownerTag, keys: [lasting, ofMonth("2026-11"), ofMonth("2026-12")] };
const hex = (value: bigint) => `0x${value.toString(16).padStart(64, "0")}`;

describe("the file of viewing keys", () => {
  const text = formatViewingKeys(set, DEPLOYMENT);
  const json = JSON.parse(text) as { keys: object[] };
  const changed = (change: object) => JSON.stringify({ ...json, ...change });
  const withKey = (change: object) => changed({ keys: [json.keys[0], { ...json.keys[1], ...change }] });
  const refuse = (changedText: string) => {
    const { message } = expectCode("INVALID_KEY", () => parseViewingKeys(changedText, DEPLOYMENT));
    for (const { viewingKey } of set.keys) expect(message).not.to.include(viewingKey.toString(16).slice(8, 24));
    return message;
  };

  it("is read as it was written, also with invisible characters around it, in the order of the months", () => {
    for (const pasted of [text, `${text}\n`, `\ufeff ${text}\u200b\n`, changed({})])
      expect(parseViewingKeys(pasted, DEPLOYMENT)).to.deep.equal(set);
    expect(parseViewingKeys(text, { ...DEPLOYMENT, chainId: Number(DEPLOYMENT.chainId) })).to.deep.equal(set);
    expect(parseViewingKeys(changed({ keys: json.keys.toReversed() }), DEPLOYMENT)).to.deep.equal(set);
  });

  it("may have change keys", () => {
    const { changeKey } = keys.ofMonth(parseMonth("2026-12"));
    const audit = { ownerTag, keys: [{ ...ofMonth("2026-12"), changeKey }] };
    expect(parseViewingKeys(formatViewingKeys(audit, DEPLOYMENT), DEPLOYMENT)).to.deep.equal(audit);
    refuse(withKey({ changeKey: `0x${"ff".repeat(32)}` }));
    refuse(withKey({ changeKey: 7 }));
  });

  it("of version 1, which has one key, is read too", () => {
    const place = { chainId: String(DEPLOYMENT.chainId), pool: DEPLOYMENT.pool };
    const first = { type: "sotto-viewing-key", version: 1, ...place, viewingKey: hex(lasting.viewingKey) };
    const { shieldedAddress } = lasting;
    const found = parseViewingKeys(JSON.stringify({ ...first, shieldedAddress }), DEPLOYMENT);
    expect(found).to.deep.equal({ ownerTag, keys: [lasting] });
    refuse(JSON.stringify({ ...first, shieldedAddress: other.shieldedAddress() }));
    refuse(JSON.stringify(first));
  });

  it("is rejected if it is not JSON, is no object or is too long", () => {
    for (const broken of [
      "",
      "null",
      "[]",
      "7",
      text.slice(1),
      text.slice(0, -1),
      `[${text}]`,
      text.replace("0x", "0x\u200b"),
    ])
      refuse(broken);
    expect(parseViewingKeys(text.padEnd(97_000), DEPLOYMENT)).to.deep.equal(set);
    expect(refuse(text.padEnd(97_001))).to.include("at most 97000 characters");
  });

  it("is rejected with another type or version, a missing field or an inherited one", () => {
    for (const change of [{ type: "sotto-key" }, { version: 3 }, { version: "2" }]) refuse(changed(change));
    for (const field of Object.keys(json)) {
      refuse(changed({ [field]: undefined }));
      refuse(changed({ [field]: undefined, ["__proto__"]: json }));
      refuse(changed({ [field]: [] }));
    }
    for (const field of ["viewingKey", "shieldedAddress"]) refuse(withKey({ [field]: undefined }));
  });

  it("is rejected for another pool or chain", () => {
    for (const change of [{ pool: `0x${"5b".repeat(20)}` }, { chainId: "7" }, { chainId: Number(DEPLOYMENT.chainId) }])
      expect(refuse(changed(change))).to.include("another pool");
  });

  it("is rejected if a key is even, out of range or another address's", () => {
    const { viewingKey } = ofMonth("2026-11");
    const beyond = [SUBGROUP_ORDER, viewingKey + 2n * SUBGROUP_ORDER, 2n ** 256n - 1n];
    for (const value of [0n, viewingKey + 1n, viewingKey + 2n, ...beyond]) refuse(withKey({ viewingKey: hex(value) }));
    for (const value of [hex(viewingKey).toUpperCase(), hex(viewingKey).slice(2), viewingKey.toString()])
      refuse(withKey({ viewingKey: value }));
    expect(refuse(withKey({ viewingKey: hex(ofMonth("2026-12").viewingKey) }))).to.include("does not belong");
    expect(refuse(withKey({ shieldedAddress: "0x12" }))).to.include("malformed");
  });

  it("is rejected with keys of two wallets, a month twice, a wrong month, none or too many", () => {
    const strange = JSON.parse(
      formatViewingKeys({ ownerTag: other.ownerTag(0), keys: [ofMonth("2026-10", other)] }, DEPLOYMENT),
    );
    expect(refuse(changed({ keys: [...json.keys, ...strange.keys] }))).to.include("several wallets");
    expect(refuse(changed({ ownerTag: String(other.ownerTag(0)) }))).to.include("several wallets");
    expect(refuse(changed({ keys: [json.keys[1], json.keys[1]] }))).to.include("two keys are of 2026-11");
    expect(refuse(changed({ keys: [json.keys[0], json.keys[0]] }))).to.include("two keys are of the lasting address");
    for (const month of ["2026-13", "2026-1", 202611, null]) refuse(withKey({ month }));
    refuse(changed({ keys: [] }));
    refuse(changed({ keys: Array.from({ length: MAX_VIEWING_KEYS + 1 }, () => ({})) }));
  });

  it("holds the keys of twenty years", () => {
    const months = monthRange(parseMonth("2026-01"), addMonths(parseMonth("2026-01"), MAX_VIEWING_KEYS - 1));
    const change = (month: string) => ({ ...ofMonth(month), changeKey: keys.ofMonth(parseMonth(month)).changeKey });
    const many = { ownerTag, keys: months.map(change) };
    expect(parseViewingKeys(formatViewingKeys(many, DEPLOYMENT), DEPLOYMENT).keys).to.have.length(MAX_VIEWING_KEYS);
  });
});

describe("viewing keys", () => {
  it("are checked once, and frozen", () => {
    const checked = assertViewingKeys(set);
    expect(assertViewingKeys(checked)).to.equal(checked);
    expect(Object.isFrozen(checked.keys)).to.equal(true);
    expectCode("INVALID_KEY", () =>
      assertViewingKeys({ ownerTag, keys: [{ ...lasting, viewingKey: other.viewingKey }] }),
    );
    expectCode("INVALID_KEY", () => formatViewingKeys({ ownerTag, keys: [lasting, lasting] }, DEPLOYMENT));
  });

  it("are described by their months", () => {
    const of = (...months: string[]) => ({ ownerTag, keys: months.map((month) => ofMonth(month)) });
    expect(describeKeys(set)).to.equal("2026-11 to 2026-12 and the lasting address");
    expect(describeKeys(of("2026-11"))).to.equal("2026-11");
    expect(describeKeys(of("2027-01", "2026-12", "2027-03"))).to.equal("2026-12 to 2027-01 and 2027-03");
    expect(describeKeys({ ownerTag, keys: [lasting] })).to.equal("the lasting address");
    expect([describeMonths([]), describeMonths([], true)]).to.deep.equal(["", "the lasting address"]);
    for (const junk of [undefined, "2026-11", ["2026-13"], [null]])
      expectCode("INVALID_MONTH", () => describeMonths(junk as never));
  });
});
