import { constants, createPrivateKey, createPublicKey, privateDecrypt, publicEncrypt, randomBytes } from "node:crypto";
import { bytesToHex, SottoError } from "@sotto/protocol";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import { Wallet } from "ethers";
import fc from "fast-check";
import {
  decodePrepaidKeyFile,
  decodeReceiptKeyFile,
  decodeSignedSchedule,
  encodePrepaidKeyFile,
  encodeReceiptKeyFile,
  encodeRsaKey,
  encodeSignedSchedule,
  generatePrepaidKey,
  laterEpoch,
  MAX_PREPAID_KEY_FILE_BYTES,
  MAX_RECEIPT_KEY_FILE_BYTES,
  MAX_SIGNED_SCHEDULE_BYTES,
  type PrepaidKeyFile,
  type PrepaidSchedule,
  prepaidKey,
  type SignedSchedule,
  scheduleTypedData,
  verifyScheduleSignature,
} from "../../src/index.ts";
import { createSigner } from "./support/signer.ts";

const ORIGIN = "https://data.example";
const [{ key: firstKey, privateKey: first }, { privateKey: second }] = [
  await generatePrepaidKey(),
  await generatePrepaidKey(),
];

describe("a generated prepaid key", () => {
  it("is an RSA key of 2048 bits in Node's own encoding, and allows raw operations", () => {
    const secret = createPrivateKey(first);
    expect([secret.asymmetricKeyType, secret.asymmetricKeyDetails]).to.deep.equal([
      "rsa",
      { modulusLength: 2048, publicExponent: 65537n },
    ]);
    expect(secret.export({ type: "pkcs8", format: "pem" })).to.equal(first);
    const open = createPublicKey(secret);
    expect(open.export({ type: "spki", format: "der" })).to.deep.equal(Buffer.from(encodeRsaKey(firstKey.modulus)));
    expect(firstKey).to.deep.equal(prepaidKey(firstKey.modulus));
    const message = Buffer.alloc(256, 5);
    const padding = constants.RSA_NO_PADDING;
    const raised = privateDecrypt({ key: secret, padding }, message);
    expect(publicEncrypt({ key: open, padding }, raised)).to.deep.equal(message);
    expect(second).to.not.equal(first);
  });
});

describe("a file of prepaid keys", () => {
  const file: PrepaidKeyFile = {
    origin: ORIGIN,
    keys: [
      { epoch: "2026-12", value: 100n, privateKey: first },
      { epoch: "2026-12", value: 500n, privateKey: second },
    ],
  };
  const wire = encodePrepaidKeyFile(file);

  it("survives a round trip through JSON", () => {
    expect(decodePrepaidKeyFile(JSON.parse(JSON.stringify(wire)))).to.deep.equal(file);
  });

  it("fits into its size limit even with three times the keys of the largest schedule", () => {
    const keys = Array.from({ length: 144 }, (_, i) => ({
      epoch: `2026-${String(1 + Math.floor(i / 12)).padStart(2, "0")}`,
      value: 10n ** BigInt(i % 12),
      privateKey: first.replace("MII", String(1000 + i)),
    }));
    const size = JSON.stringify(encodePrepaidKeyFile({ origin: ORIGIN, keys }), null, 2).length;
    expect(size).to.be.within(200_000, MAX_PREPAID_KEY_FILE_BYTES / 3);
  });

  it("is refused if a field is malformed, and the error never contains a key", () => {
    const [key] = wire.keys;
    const withKey = (change: object) => ({ ...wire, keys: [{ ...key, ...change }] });
    const secret = first.split("\n")[5]!;
    const wrong = [
      ...[null, [], "", {}, { ...wire, version: 2 }, { ...wire, origin: `${ORIGIN}/` }, { ...wire, origin: undefined }],
      ...[[], {}, undefined, Array(433).fill(key), [null], [key, key], [key, { ...key, value: "500" }]].map((keys) => ({
        ...wire,
        keys,
      })),
      ...["2026-13", "", 5, null].map((epoch) => withKey({ epoch })),
      ...[100, "300", "0100", "-1", "", "1e2", null].map((value) => withKey({ value })),
      ...[
        ...["", null, `${first}x`, `x${first}`, first.repeat(2), first.replaceAll("\n", "\r\n")],
        ...[first.replace("PRIVATE", "RSA PRIVATE"), first.replace(secret, `${secret}!`), "A".repeat(1e6)],
      ].map((privateKey) => withKey({ privateKey })),
    ];
    for (const value of wrong)
      expect(expectCode("INVALID_ARGUMENT", () => decodePrepaidKeyFile(value)).message).to.not.include(secret);
  });

  it("never fails without a code on any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          decodePrepaidKeyFile({ ...wire, ...Object(value) });
          decodePrepaidKeyFile({ ...wire, keys: value });
        } catch (error) {
          expect(error).to.be.instanceOf(SottoError);
        }
      }),
      { numRuns: fuzzSize(200, 4_000) },
    );
  });
});

describe("a file of receipt keys", () => {
  it("holds the keys of four terms of a year, the most that a server has at once, within its size limit", () => {
    const keys = Array.from({ length: 48 }, (_, i) => ({ epoch: laterEpoch("2026-12", i), secret: randomBytes(32) }));
    const origin = `https://${"a".repeat(63)}.${"b".repeat(63)}.example`;
    const wire = encodeReceiptKeyFile({ origin, keys });
    expect(JSON.stringify(wire, null, 2).length).to.be.at.most(MAX_RECEIPT_KEY_FILE_BYTES);
    expect(decodeReceiptKeyFile(wire).keys).to.have.length(48);
    const more = { epoch: laterEpoch("2026-12", 48), secret: randomBytes(32) };
    expectCode("INVALID_ARGUMENT", () => encodeReceiptKeyFile({ origin, keys: [...keys, more] }));
  });
});

describe("a signed schedule", () => {
  const owner = Wallet.createRandom();
  const schedule: PrepaidSchedule = {
    wallet: owner.address.toLowerCase() as `0x${string}`,
    chainId: 31337n,
    pool: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
    origin: ORIGIN,
    firstEpoch: "2026-12",
    values: [100n],
    keys: [[createSigner().key]],
  };
  const noChain = async () => `0x${"00".repeat(32)}`;
  let signed: SignedSchedule;
  before(async () => {
    const { domain, types, message } = scheduleTypedData(schedule);
    signed = { schedule, signature: await owner.signTypedData(domain, types, message) };
  });

  it("survives a round trip through JSON, and its wallet's signature is accepted", async () => {
    const decoded = decodeSignedSchedule(JSON.parse(JSON.stringify(encodeSignedSchedule(signed))));
    expect(decoded).to.deep.equal(signed);
    expect(await verifyScheduleSignature(decoded, noChain)).to.equal(true);
  });

  it("is not accepted with another schedule's signature", async () => {
    const later = { ...signed, schedule: { ...schedule, firstEpoch: "2027-01" } };
    expect(await verifyScheduleSignature(later, noChain)).to.equal(false);
  });

  it("is refused if it is malformed", () => {
    const wire = encodeSignedSchedule(signed);
    for (const signature of ["", "0x", "0x1", `0x${"00".repeat(8193)}`, 5, null, undefined]) {
      expectCode("INVALID_ARGUMENT", () => decodeSignedSchedule({ ...wire, signature }));
      expectCode("INVALID_ARGUMENT", () => encodeSignedSchedule({ ...signed, signature: signature as string }));
    }
    for (const value of [null, [], {}, { ...wire, schedule: undefined }, wire.schedule])
      expectCode("INVALID_ARGUMENT", () => decodeSignedSchedule(value));
  });

  it("fits into its size limit with the maximum number of keys and the longest signature", () => {
    const { modulus } = schedule.keys[0]![0]!;
    const keys = Array.from({ length: 12 }, (_, i) =>
      Array.from({ length: 12 }, (_, j) => prepaidKey(modulus ^ (BigInt(i * 12 + j) << 1n))),
    );
    const values = Array.from({ length: 12 }, (_, i) => 10n ** BigInt(i));
    const signature = bytesToHex(new Uint8Array(8192).fill(255));
    const size = JSON.stringify(encodeSignedSchedule({ schedule: { ...schedule, values, keys }, signature })).length;
    expect(size).to.be.within(MAX_SIGNED_SCHEDULE_BYTES / 2, MAX_SIGNED_SCHEDULE_BYTES);
  });
});
