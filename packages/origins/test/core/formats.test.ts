import { secp256k1 } from "@noble/curves/secp256k1.js";
import { BASE_FIELD_MODULUS, bytesToHex, FIELD_MODULUS } from "@sotto/protocol";
import { expectCode } from "@sotto/test-kit/rejection";
import { assert } from "chai";
import { computeAddress, TypedDataEncoder, verifyTypedData } from "ethers";
import {
  chainLine,
  decodeClaim,
  decodeEntry,
  decodeHead,
  decodeManifest,
  decodeOriginHeader,
  encodeClaim,
  encodeEntry,
  encodeHead,
  encodeManifest,
  encodeOriginHeader,
  headDigest,
  LOG_START,
  MAX_HEAD_BYTES,
  MAX_ORIGIN_HEADER_LENGTH,
  MaskTree,
  type OriginHead,
  signHead,
  ZERO_BYTES,
} from "../../src/index.ts";

const secret = new Uint8Array(32).fill(7);
const curator = computeAddress(bytesToHex(secret)).toLowerCase() as OriginHead["curator"];
const hash = (byte: string): `0x${string}` => `0x${byte.repeat(32)}`;
const head: OriginHead = {
  chainId: 8453,
  pool: `0x${"90".repeat(20)}`,
  curator,
  name: "clean-2026",
  number: 3,
  previous: hash("01"),
  time: 1_800_000_000,
  block: 77,
  blockHash: hash("02"),
  blockTime: 1_799_999_990,
  leaves: 12,
  maskRoot: FIELD_MODULUS - 1n,
  manifest: hash("03"),
  entries: 9,
  claims: 4,
  log: hash("04"),
  policy: hash("05"),
};
const proof = Array.from({ length: 8 }, (_, i) => String(BASE_FIELD_MODULUS - BigInt(i + 1)));

describe("a signed head", () => {
  const signed = signHead(head, secret);
  const wire = JSON.parse(JSON.stringify(encodeHead(signed)));

  it("is read as it was written, within its size, and any EIP-712 library verifies it", () => {
    assert.deepEqual(decodeHead(wire), signed);
    assert.isBelow(JSON.stringify(wire).length, MAX_HEAD_BYTES);
    const types = {
      OriginHead: [
        { name: "chainId", type: "uint256" },
        { name: "pool", type: "address" },
        { name: "name", type: "string" },
        { name: "number", type: "uint64" },
        { name: "previous", type: "bytes" },
        { name: "time", type: "uint64" },
        { name: "block", type: "uint64" },
        { name: "blockHash", type: "bytes" },
        { name: "blockTime", type: "uint64" },
        { name: "leaves", type: "uint64" },
        { name: "maskRoot", type: "uint256" },
        { name: "manifest", type: "bytes" },
        { name: "entries", type: "uint64" },
        { name: "claims", type: "uint64" },
        { name: "log", type: "bytes" },
        { name: "policy", type: "bytes" },
      ],
    };
    const domain = { name: "sotto", version: "1" };
    assert.equal(headDigest(head), TypedDataEncoder.hash(domain, types, head));
    assert.equal(verifyTypedData(domain, types, head, signed.signature).toLowerCase(), curator);
  });

  it("is refused after a change of any field", () => {
    const changes: Record<keyof OriginHead, unknown> = {
      chainId: 1,
      pool: `0x${"91".repeat(20)}`,
      curator: `0x${"92".repeat(20)}`,
      name: "clean-2027",
      number: 4,
      previous: hash("11"),
      time: 1_800_000_060,
      block: 78,
      blockHash: hash("12"),
      blockTime: 1_799_999_991,
      leaves: 13,
      maskRoot: "5",
      manifest: hash("13"),
      entries: 10,
      claims: 5,
      log: hash("14"),
      policy: hash("15"),
    };
    for (const [field, value] of Object.entries(changes))
      expectCode("INVALID_ARGUMENT", () => decodeHead({ ...wire, [field]: value }), /signature/u);
    assert.sameMembers(Object.keys(changes), Object.keys(head));
  });

  it("is refused with a field that is missing, malformed or out of its range", () => {
    for (const field of Object.keys(wire))
      for (const value of [undefined, null, "", -1, 1.5, Number.MAX_VALUE, "0x", [], {}, "01", "x".repeat(5_000)])
        expectCode("INVALID_ARGUMENT", () => decodeHead({ ...wire, [field]: value }));
    for (const value of [undefined, null, 7, "head", []]) expectCode("INVALID_ARGUMENT", () => decodeHead(value));
    expectCode("INVALID_ARGUMENT", () => signHead({ ...head, time: head.time + 1 }, secret), /multiple of 60/u);
    expectCode("INVALID_ARGUMENT", () => signHead({ ...head, number: 0 }, secret), /head 0/u);
    expectCode("INVALID_ARGUMENT", () => signHead({ ...head, previous: ZERO_BYTES }, secret), /head 0/u);
    expectCode("INVALID_ARGUMENT", () => signHead({ ...head, leaves: 2 ** 30 + 1 }, secret));
  });

  it("is not signed with another key, and its high-s twin is refused", () => {
    expectCode("INVALID_ARGUMENT", () => signHead(head, new Uint8Array(32).fill(8)), /key/u);
    const bytes = Buffer.from(signed.signature.slice(2), "hex");
    const s = secp256k1.Point.CURVE().n - BigInt(`0x${bytes.subarray(32, 64).toString("hex")}`);
    const twin = `0x${bytes.subarray(0, 32).toString("hex")}${s.toString(16).padStart(64, "0")}${(55 - bytes[64]!).toString(16)}`;
    expectCode("INVALID_ARGUMENT", () => decodeHead({ ...wire, signature: twin }), /signature/u);
  });
});

describe("the manifest of a head", () => {
  const mask = new MaskTree((index) => BigInt(index + 1));
  for (const index of [3, 40_000]) mask.set(index, true);
  const chunks = mask.chunks(40_001);
  const bytes = encodeManifest(chunks);
  const { manifest } = { manifest: bytesToHex(new Uint8Array(32)) };
  const named = async (): Promise<OriginHead> => {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes.slice()));
    return { ...head, leaves: 40_001, maskRoot: mask.root, manifest: bytesToHex(digest) };
  };

  it("lists each chunk's root and hash", async () => {
    const listed = decodeManifest(bytes, await named());
    assert.deepEqual(
      listed.map(({ root }) => root),
      chunks.map(({ root }) => root),
    );
  });

  it("is refused if it is cut, changed, another head's, or does not lead to the mask root", async () => {
    const right = await named();
    const changed = bytes.slice();
    changed[5]! ^= 1;
    for (const [wrong, of] of [
      [bytes.subarray(64), right],
      [changed, right],
      [bytes, { ...right, manifest }],
      [bytes, { ...right, maskRoot: 5n }],
      [bytes, { ...right, leaves: 70_000 }],
    ] as const)
      expectCode("INVALID_ARGUMENT", () => decodeManifest(wrong, of));
  });
});

describe("a log", () => {
  const claim = { nullifier: 5n, maskRoot: 6n, proof };

  it("has one spelling for each entry", () => {
    for (const entry of [
      { type: "accept", leaf: 0, transaction: hash("ab") },
      { type: "refuse", leaf: 2 ** 30 - 1, transaction: hash("00") },
      { type: "claim", claim },
    ] as const) {
      const line = encodeEntry(entry);
      assert.deepEqual(decodeEntry(line), entry);
      for (const other of [` ${line}`, `${line} `, line.replace(":", ": "), line.replace("}", ',"more":1}')])
        expectCode("INVALID_ARGUMENT", () => decodeEntry(other));
    }
    const line = encodeEntry({ type: "accept", leaf: 1, transaction: hash("ab") });
    for (const wrong of [
      "",
      "{",
      "[]",
      "null",
      line.replace("1", "1073741824"),
      line.replace("1", "-1"),
      line.replace("accept", "reorg"),
      line.replace("ab", "AB"),
      line.replace("ab", ""),
      '{"type":"accept","leaf":1}',
      `"${"x".repeat(2_000)}"`,
    ])
      expectCode("INVALID_ARGUMENT", () => decodeEntry(wrong));
  });

  it("has a chain that depends on every line and on their order", () => {
    const chain = (...lines: string[]) => lines.reduce(chainLine, LOG_START);
    assert.equal(chain("a", "b"), chain("a", "b"));
    assert.notEqual(chain("a", "b"), chain("b", "a"));
    assert.notEqual(chain("a", "b"), chain("ab"));
  });

  it("refuses claims with numbers out of range", () => {
    const wire = encodeClaim(claim);
    assert.deepEqual(decodeClaim(wire), claim);
    for (const wrong of [
      { nullifier: "0" },
      { nullifier: String(FIELD_MODULUS) },
      { maskRoot: String(FIELD_MODULUS) },
      { maskRoot: "06" },
      { proof: proof.slice(1) },
      { proof: [...proof, "1"] },
      { proof: [...proof.slice(1), String(BASE_FIELD_MODULUS)] },
      { proof: [...proof.slice(1), 1] },
    ])
      expectCode("INVALID_ARGUMENT", () => decodeClaim({ ...wire, ...wrong }));
  });
});

describe("the header of origins", () => {
  const shown = { maskRoot: 9n, proof };

  it("carries one to four origins in 384 characters each", () => {
    const value = encodeOriginHeader([shown]);
    assert.lengthOf(value, 384);
    assert.deepEqual(decodeOriginHeader(value), [shown]);
    const four = [1n, 2n, 3n, 4n].map((maskRoot) => ({ maskRoot, proof }));
    assert.deepEqual(decodeOriginHeader(encodeOriginHeader(four)), four);
    const spaced = encodeOriginHeader(four).replaceAll(",", ", ");
    assert.lengthOf(spaced, MAX_ORIGIN_HEADER_LENGTH);
    assert.deepEqual(decodeOriginHeader(spaced), four);
  });

  it("is refused with other characters, sizes, words out of range, or a root twice", () => {
    const value = encodeOriginHeader([shown]);
    const big = encodeOriginHeader([{ maskRoot: FIELD_MODULUS, proof }]);
    const outside = encodeOriginHeader([{ maskRoot: 9n, proof: [...proof.slice(1), String(BASE_FIELD_MODULUS)] }]);
    const five = [1n, 2n, 3n, 4n, 5n].map((maskRoot) => ({ maskRoot, proof }));
    const twice = `${value},${value}`;
    assert.equal(encodeOriginHeader([shown, shown]), value, "two sets with one root need one proof");
    const other = encodeOriginHeader([{ ...shown, maskRoot: 8n }]);
    assert.lengthOf(decodeOriginHeader(`${value}, ${other}`), 2);
    for (const wrong of ["", ",", `${value},`, value.slice(1), `${value}A`, value.replace(/^./u, "="), big, twice])
      expectCode("INVALID_ARGUMENT", () => decodeOriginHeader(wrong));
    expectCode("INVALID_ARGUMENT", () => decodeOriginHeader(encodeOriginHeader(five)), /characters/u);
    expectCode("INVALID_FIELD_ELEMENT", () => decodeOriginHeader(outside));
  });
});
