import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { deriveKeys, formatViewingKey, parseViewingKey, SUBGROUP_ORDER, viewerOf } from "../src/index.ts";
import { DEPLOYMENT } from "./support/deployment.ts";

describe("the file of a viewing key", () => {
  const keys = deriveKeys(new Uint8Array(32).fill(7), DEPLOYMENT);
  const key = { viewingKey: keys.viewingKey, shieldedAddress: keys.shieldedAddress() };
  const other = deriveKeys(new Uint8Array(32).fill(8), DEPLOYMENT);
  const text = formatViewingKey(key, DEPLOYMENT);
  const hex = (value: bigint) => `0x${value.toString(16).padStart(64, "0")}`;
  const changed = (change: object) => JSON.stringify({ ...JSON.parse(text), ...change });
  const refuse = (changedText: string) => {
    const { message } = expectCode("INVALID_KEY", () => parseViewingKey(changedText, DEPLOYMENT));
    expect(message).not.to.include(keys.viewingKey.toString(16).slice(8, 24));
    return message;
  };

  it("is read as it was written, also with invisible characters around it", () => {
    for (const pasted of [text, `${text}\n`, `\ufeff ${text}\u200b\n`, changed({})])
      expect(parseViewingKey(pasted, DEPLOYMENT)).to.deep.equal(key);
    expect(parseViewingKey(text, { ...DEPLOYMENT, chainId: Number(DEPLOYMENT.chainId) })).to.deep.equal(key);
    expect(viewerOf(key)).to.deep.equal({ viewingKey: keys.viewingKey, ownerTag: keys.ownerTag(0) });
  });

  it("is rejected if it is not JSON, is no object or is longer than 4096 characters", () => {
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
    expect(parseViewingKey(text.padEnd(4096), DEPLOYMENT)).to.deep.equal(key);
    expect(refuse(text.padEnd(4097))).to.include("at most 4096 characters");
  });

  it("is rejected with another type or version, a missing field or an inherited one", () => {
    for (const change of [{ type: "sotto-key" }, { version: 2 }, { version: "1" }]) refuse(changed(change));
    for (const field of Object.keys(JSON.parse(text) as object)) {
      refuse(changed({ [field]: undefined }));
      refuse(changed({ [field]: undefined, ["__proto__"]: JSON.parse(text) }));
      refuse(changed({ [field]: [] }));
    }
  });

  it("is rejected for another pool or chain", () => {
    for (const change of [{ pool: `0x${"5b".repeat(20)}` }, { chainId: "7" }, { chainId: Number(DEPLOYMENT.chainId) }])
      expect(refuse(changed(change))).to.include("another pool");
  });

  it("is rejected if the key is even, out of range or another address's", () => {
    const { viewingKey } = key;
    for (const value of [
      0n,
      viewingKey + 1n,
      viewingKey + 2n,
      SUBGROUP_ORDER,
      viewingKey + 2n * SUBGROUP_ORDER,
      2n ** 256n - 1n,
    ])
      refuse(changed({ viewingKey: hex(value) }));
    for (const value of [hex(viewingKey).toUpperCase(), hex(viewingKey).slice(2), viewingKey.toString()])
      refuse(changed({ viewingKey: value }));
    refuse(changed({ viewingKey: hex(other.viewingKey) }));
    expect(refuse(changed({ shieldedAddress: other.shieldedAddress() }))).to.include("does not belong");
    expect(refuse(changed({ shieldedAddress: "0x12" }))).to.include("malformed");
    expectCode("INVALID_KEY", () => viewerOf({ ...key, viewingKey: other.viewingKey }));
    expectCode("INVALID_KEY", () => formatViewingKey({ ...key, viewingKey: viewingKey + 1n }, DEPLOYMENT));
  });
});
