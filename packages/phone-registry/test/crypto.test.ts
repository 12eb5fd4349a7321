import { randomBytes } from "node:crypto";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { openRecord, openText, type Place, rewrap, sealRecord, sealText } from "../src/crypto/envelope.ts";
import { assertHead, headTerm, sealHead } from "../src/crypto/head.ts";
import { KeyRing } from "../src/crypto/key-ring.ts";
import type { RegistryKey } from "../src/index.ts";

const key = (id: string): RegistryKey => ({ id, key: randomBytes(32) });
const place: Place = { table: "t", id: "a", version: 1, verified: true };
const elsewhere: Place[] = [
  { ...place, table: "u" },
  { ...place, id: "b" },
  { ...place, version: 2 },
  { ...place, verified: false },
];
const codeOf = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return "opened";
};

describe("envelopes", () => {
  const [m1, m2, i1] = [key("m1"), key("m2"), key("i1")];
  const ring = new KeyRing({ master: [m1], index: [i1] });
  const rotated = new KeyRing({ master: [m2, m1], index: [i1] });
  const value = { phone: "+14155550100", note: "é✓" };

  it("open only where they were sealed", () => {
    const envelope = sealRecord(ring, place, value);
    expect(openRecord(ring, place, "m1", envelope)).to.deep.equal(value);
    for (const other of elsewhere)
      expect(codeOf(() => openRecord(ring, other, "m1", envelope))).to.equal("RECORD_TAMPERED");
    for (const other of elsewhere)
      expect(codeOf(() => rewrap(rotated, other, "m1", envelope))).to.equal("RECORD_TAMPERED");
  });

  it("differ each time, even for the same record", () => {
    const all = Array.from({ length: 50 }, () => sealRecord(ring, place, value));
    expect(new Set(all.flatMap((one) => one.split("."))).size).to.equal(100);
  });

  it("do not open with one bit changed, at any byte", () => {
    const envelope = sealRecord(ring, place, value);
    const [wrapped, record] = envelope.split(".").map((part) => Buffer.from(part, "base64url")) as [Buffer, Buffer];
    const flip = (bytes: Buffer, at: number) => {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << (at % 8);
      return changed.toString("base64url");
    };
    for (let at = 0; at < wrapped.length; at += 1) {
      const forged = `${flip(wrapped, at)}.${record.toString("base64url")}`;
      expect(
        codeOf(() => openRecord(ring, place, "m1", forged)),
        `key ${at}`,
      ).to.equal("RECORD_TAMPERED");
    }
    for (let at = 0; at < record.length; at += 1) {
      const forged = `${wrapped.toString("base64url")}.${flip(record, at)}`;
      expect(
        codeOf(() => openRecord(ring, place, "m1", forged)),
        `record ${at}`,
      ).to.equal("RECORD_TAMPERED");
    }
  });

  it("do not open with a truncated tag", () => {
    const [wrapped, record] = sealRecord(ring, place, value).split(".") as [string, string];
    for (const cut of [1, 4, 12, 16]) {
      const short = Buffer.from(record, "base64url").subarray(0, -cut).toString("base64url");
      expect(codeOf(() => openRecord(ring, place, "m1", `${wrapped}.${short}`))).to.equal("RECORD_TAMPERED");
    }
  });

  it("do not open with another record's data key", () => {
    const [one, two] = [sealRecord(ring, place, value), sealRecord(ring, place, { phone: "other" })];
    const mixed = `${one.split(".")[0]}.${two.split(".")[1]}`;
    expect(codeOf(() => openRecord(ring, place, "m1", mixed))).to.equal("RECORD_TAMPERED");
  });

  it("can be rewrapped under a new master key", () => {
    const envelope = sealRecord(ring, place, value);
    const renewed = rewrap(rotated, place, "m1", envelope);
    expect(renewed.split(".")[1]).to.equal(envelope.split(".")[1]);
    expect(openRecord(rotated, place, "m2", renewed)).to.deep.equal(value);
    expect(codeOf(() => openRecord(ring, place, "m1", renewed))).to.equal("RECORD_TAMPERED");
    expect(codeOf(() => openRecord(ring, place, "m2", renewed))).to.equal("KEY_MISSING");
  });

  it("that contain a text open only for their purpose", () => {
    const text = sealText(ring, ["ledger", "a"], "text");
    expect(openText(ring, ["ledger", "a"], "m1", text)).to.equal("text");
    expect(codeOf(() => openText(ring, ["ledger", "b"], "m1", text))).to.equal("RECORD_TAMPERED");
    expect(codeOf(() => openText(ring, ["ledgera"], "m1", text))).to.equal("RECORD_TAMPERED");
  });
});

describe("the keys of a ring", () => {
  it("have 32 random bytes, of any realm", () => {
    const bytes = randomBytes(32);
    const ring = (given: unknown) =>
      new KeyRing({ master: [{ id: "m1", key: given as Uint8Array }], index: [key("i1")] });
    const foreign = runInNewContext("Uint8Array.from(bytes)", { bytes: [...bytes] });
    const sealed = { text: "sealed" };
    const envelope = sealRecord(ring(bytes), place, sealed);
    expect(openRecord(ring(foreign), place, "m1", envelope)).to.deep.equal(sealed);
    const claims = { [Symbol.toStringTag]: "Uint8Array", length: 32, every: () => false };
    for (const wrong of [claims, [...bytes], bytes.toString("hex").slice(32), bytes.subarray(1), new Uint8Array(32)])
      expect(codeOf(() => ring(wrong))).to.equal("INVALID_KEYS");
  });
});

describe("heads", () => {
  const ring = new KeyRing({ master: [key("m1")], index: [key("i1")] });
  const other = new KeyRing({ master: [key("m1")], index: [key("i1")] });

  it("bind place and version, under one key", () => {
    const head = { version: 1, master_key: "m1", seal: sealHead(ring, place) };
    expect(codeOf(() => assertHead(ring, place, head))).to.equal("opened");
    for (const wrong of elsewhere) expect(codeOf(() => assertHead(ring, wrong, head))).to.equal("RECORD_TAMPERED");
    expect(codeOf(() => assertHead(other, place, head))).to.equal("RECORD_TAMPERED");
    expect(codeOf(() => assertHead(ring, place, { ...head, version: 2 }))).to.equal("RECORD_TAMPERED");
    expect(codeOf(() => assertHead(ring, place, { ...head, seal: "" }))).to.equal("RECORD_TAMPERED");
    expect(codeOf(() => assertHead(ring, place, { ...head, master_key: "m9" }))).to.equal("KEY_MISSING");
    expect(codeOf(() => assertHead(ring, place, undefined))).to.equal("RECORD_TAMPERED");
  });

  it("have distinct summands, which their seals do not reveal", () => {
    const entry = { id: "a", version: 1, verified: 1, master_key: "m1" };
    const seal = BigInt(`0x${Buffer.from(sealHead(ring, place), "base64url").toString("hex")}`);
    expect(headTerm(ring, entry)).not.to.equal(seal);
    const terms = [entry, { ...entry, id: "b" }, { ...entry, version: 2 }, { ...entry, verified: 0 }];
    expect(new Set(terms.map((one) => headTerm(ring, one))).size).to.equal(4);
  });
});

describe("blind values", () => {
  const ring = new KeyRing({ master: [key("m1")], index: [key("i1"), key("i2")] });

  it("differ by use, parts and key, and do not concatenate parts", () => {
    const values = [
      ring.blind("number", ["1", "23"]),
      ring.blind("number", ["12", "3"]),
      ring.blind("number", ["123"]),
      ring.blind("slot", ["123"]),
      ring.blind("audit", ["123"]),
      ring.blind("number", [123]),
      ring.blind("number", ["123"], ring.indexes[1]),
    ];
    expect(new Set(values).size).to.equal(values.length);
    expect(ring.blinds("number", ["123"])).to.deep.equal([values[2], values[6]]);
    for (const value of values) expect(Buffer.from(value, "base64url")).to.have.length(32);
  });
});
