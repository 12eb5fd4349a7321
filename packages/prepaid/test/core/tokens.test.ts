import { bytesToHex, deriveKeys } from "@sotto/protocol";
import { bigIntToBytes } from "@sotto/protocol/extend";
import { fuzzSize } from "@sotto/test-kit/fuzz-size";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import { BlindMessages, raiseToExponent } from "../../src/core/blind-rsa.ts";
import {
  assertPrepaidValue,
  decodePrepaidHeader,
  decodePrepaidToken,
  decodeSchedule,
  encodePrepaidHeader,
  encodePrepaidKey,
  encodePrepaidToken,
  encodeSchedule,
  epochOf,
  isPrepaidValue,
  laterEpoch,
  PREPAID_KEY_BYTES,
  type PrepaidSchedule,
  parsePrepaidKey,
  parsePrepaidPurchase,
  prepaidChallengeDigest,
  prepaidKey,
  prepaidPackLabel,
  prepaidPurchaseTarget,
  preparePrepaidPack,
  redeemsAt,
  redemptionOf,
  scheduleDigest,
  scheduledKeys,
  scheduleTypedData,
  signsAt,
} from "../../src/index.ts";
import { createSigner } from "./support/signer.ts";

const DEPLOYMENT = { chainId: 31337n, pool: `0x${"5a".repeat(20)}` };
const ORIGIN = "https://data.example";
const SECRET = new Uint8Array(32).fill(7);
const signer = createSigner();
const other = createSigner();

describe("a pack of prepaid tokens", () => {
  it("is reproduced by the same secret, and shares nothing with the pack of another secret", () => {
    const [pack, again] = [SECRET, SECRET].map((secret) => preparePrepaidPack(secret, signer.key, ORIGIN, 5));
    expect(pack!.request).to.deep.equal(again!.request);
    const tokens = pack!.finish(signer.sign(pack!.request));
    expect(again!.finish(signer.sign(again!.request))).to.deep.equal(tokens);
    const foreign = preparePrepaidPack(new Uint8Array(32).fill(8), signer.key, ORIGIN, 5);
    const nonces = [...tokens, ...foreign.finish(signer.sign(foreign.request))].map(({ nonce }) => nonce);
    expect(new Set(nonces).size).to.equal(10);
    const messages = [pack!.request, foreign.request].flatMap((request) =>
      Array.from({ length: 5 }, (_, i) =>
        bytesToHex(request.slice(i * PREPAID_KEY_BYTES, (i + 1) * PREPAID_KEY_BYTES)),
      ),
    );
    expect(new Set(messages).size).to.equal(10);
  });

  it("has different tokens for each origin, key and pack of the wallet", () => {
    const keys = deriveKeys(SECRET, DEPLOYMENT);
    const label = prepaidPackLabel(ORIGIN, signer.key.id, 0);
    const secrets = [
      keys.derive(label, 32),
      keys.derive(prepaidPackLabel(ORIGIN, signer.key.id, 1), 32),
      keys.derive(prepaidPackLabel(ORIGIN, other.key.id, 0), 32),
      keys.derive(prepaidPackLabel("https://other.example", signer.key.id, 0), 32),
      deriveKeys(SECRET, { ...DEPLOYMENT, chainId: DEPLOYMENT.chainId + 1n }).derive(label, 32),
    ].map(bytesToHex);
    expect(new Set(secrets).size).to.equal(secrets.length);
    expectCode("INVALID_INTEGER", () => prepaidPackLabel(ORIGIN, signer.key.id, -1));
    expectCode("INVALID_HEX", () => prepaidPackLabel(ORIGIN, "0x00", 0));
    expectCode("INVALID_STRING", () => prepaidPackLabel("", signer.key.id, 0));
  });

  it("is rejected as a whole if one signature is wrong, missing or by another key", () => {
    const pack = preparePrepaidPack(SECRET, signer.key, ORIGIN, 3);
    const response = signer.sign(pack.request);
    expect(pack.finish(response)).to.have.length(3);
    const changed = response.slice();
    changed[2 * PREPAID_KEY_BYTES + 100]! ^= 1;
    expectCode("INVALID_SIGNATURE", () => pack.finish(changed), /signature 3 of 3/);
    const swapped = response.slice();
    swapped.copyWithin(0, PREPAID_KEY_BYTES, 2 * PREPAID_KEY_BYTES);
    expectCode("INVALID_SIGNATURE", () => pack.finish(swapped), /signature 1 of 3/);
    const zeros = response.slice().fill(0, 0, PREPAID_KEY_BYTES);
    expectCode("INVALID_SIGNATURE", () => pack.finish(zeros), /signature 1 of 3/);
    expectCode("INVALID_SIGNATURE", () => pack.finish(other.sign(new Uint8Array(3 * PREPAID_KEY_BYTES).fill(1))));
    expectCode("INVALID_SIGNATURE", () => pack.finish(response.subarray(1)), /3 signatures were expected/);
    expectCode("INVALID_SIGNATURE", () => pack.finish(new Uint8Array(0)));
  });

  it("refuses a signature that is correct modulo n but not below n", () => {
    const { modulus } = signer.key;
    const inputs = [{ encoded: raiseToExponent(2n, modulus), blind: 1n }];
    const respond = (value: bigint) => bigIntToBytes(value, PREPAID_KEY_BYTES);
    const messages = new BlindMessages(inputs, modulus);
    expect(messages.finalize(respond(2n))).to.deep.equal([respond(2n)]);
    expectCode("INVALID_SIGNATURE", () => messages.finalize(respond(modulus + 2n)));
  });

  it("must have 1 to 1000 tokens and an http(s) origin", () => {
    for (const size of [0, 31, 33])
      expectCode("INVALID_KEY", () => preparePrepaidPack(new Uint8Array(size), signer.key, ORIGIN, 1));
    for (const count of [0, 1001, 1.5, Number.NaN])
      expectCode("INVALID_INTEGER", () => preparePrepaidPack(SECRET, signer.key, ORIGIN, count));
    for (const first of [-1, 0.5, 1000, Number.NaN])
      expectCode("INVALID_INTEGER", () => preparePrepaidPack(SECRET, signer.key, ORIGIN, 1, first));
    for (const origin of ["", "data.example", "https://data.example/", "https://DATA.example", "ftp://data.example"])
      expectCode("INVALID_STRING", () => preparePrepaidPack(SECRET, signer.key, origin, 1));
  });

  it("accepts only invertible blinds from 1 to n - 1", () => {
    const { modulus } = signer.key;
    for (const blind of [0n, modulus, -1n])
      expectCode("INVALID_SCALAR", () => new BlindMessages([{ encoded: 5n, blind }], modulus));
    expectCode("INVALID_KEY", () => new BlindMessages([{ encoded: 15n, blind: 1n }], 21n * 17n));
    expectCode("INVALID_KEY", () => new BlindMessages([{ encoded: 1n, blind: 15n }], 21n * 17n));
  });

  it("has a challenge that depends only on the origin's host and port", () => {
    expect(prepaidChallengeDigest("https://data.example")).to.equal(prepaidChallengeDigest("http://data.example"));
    expect(prepaidChallengeDigest("https://data.example:444")).not.to.equal(prepaidChallengeDigest(ORIGIN));
  });
});

describe("a prepaid key", () => {
  const spki = encodePrepaidKey(signer.key.modulus);

  it("has one encoding; a change to any byte around the modulus is refused", () => {
    expect(parsePrepaidKey(spki)).to.deep.equal(signer.key);
    for (const i of [...Array(81).keys(), ...[1, 2, 3, 4, 5].map((k) => spki.length - k)]) {
      const changed = spki.slice();
      changed[i]! ^= 1;
      expectCode("INVALID_KEY", () => parsePrepaidKey(changed));
    }
    expectCode("INVALID_KEY", () => parsePrepaidKey(Uint8Array.of(...spki, 0)));
    expectCode("INVALID_KEY", () => parsePrepaidKey("0x"));
  });

  it("must have an odd modulus of exactly 2,048 bits", () => {
    const { modulus } = signer.key;
    for (const wrong of [modulus - 1n, modulus >> 1n, (modulus << 1n) + 1n, 0n, -modulus, 15n])
      expectCode("INVALID_KEY", () => prepaidKey(wrong));
    expectCode("INVALID_KEY", () => createSigner(2056));
  });
});

describe("a prepaid token", () => {
  const pack = preparePrepaidPack(SECRET, signer.key, ORIGIN, 1);
  const [token] = pack.finish(signer.sign(pack.request));
  const bytes = encodePrepaidToken(token!);

  it("is 354 bytes on the wire and survives a round trip", () => {
    expect(bytes).to.have.length(354);
    expect(decodePrepaidToken(bytes)).to.deep.equal(token);
  });

  it("is refused if its size, type or encoding is wrong", () => {
    for (const wrong of [bytes.subarray(1), Uint8Array.of(...bytes, 0), new Uint8Array(354), "0x", undefined, null])
      expectCode("INVALID_ARGUMENT", () => decodePrepaidToken(wrong));
    expectCode("INVALID_ARGUMENT", () => encodePrepaidToken({ ...token!, signature: new Uint8Array(255) }));
    expectCode("INVALID_HEX", () => encodePrepaidToken({ ...token!, nonce: "0x12" }));
  });
});

describe("the wire format of prepaid tokens", () => {
  const batch = `0x${"ab".repeat(32)}`;

  it("has exactly one spelling of each purchase", () => {
    const purchase = { key: signer.key.id, count: 100, batch };
    const target = prepaidPurchaseTarget(purchase);
    const query = target.slice(target.indexOf("?") + 1);
    expect(target).to.equal(`/.well-known/sotto/prepaid?key=${signer.key.id}&n=100&batch=${batch}`);
    expect(parsePrepaidPurchase(query)).to.deep.equal(purchase);
    const wrong = [
      "",
      undefined,
      `?${query}`,
      `${query}&`,
      `${query}&n=100`,
      query.replace("n=100", "n=0100"),
      query.replace("n=100", "n=200"),
      query.replace(/ab$/, "AB"),
      query.replace("key=", "Key="),
      `n=100&key=${signer.key.id}&batch=${batch}`,
    ];
    for (const value of wrong) expectCode("INVALID_ARGUMENT", () => parsePrepaidPurchase(value));
    expectCode("INVALID_ARGUMENT", () => prepaidPurchaseTarget({ ...purchase, count: 10 }));
    expectCode("INVALID_HEX", () => prepaidPurchaseTarget({ ...purchase, key: "0x1" }));
  });

  it("has exactly one header for each token", () => {
    const pack = preparePrepaidPack(SECRET, signer.key, ORIGIN, 1);
    const [token] = pack.finish(signer.sign(pack.request));
    const header = encodePrepaidHeader(token!);
    expect(header).to.have.length(472);
    expect(decodePrepaidHeader(header)).to.deep.equal(token);
    expect(header).to.equal(Buffer.from(encodePrepaidToken(token!)).toString("base64url"));
    for (const wrong of [
      "",
      undefined,
      `${header}==`,
      header.slice(4),
      ` ${header}`,
      `+${header.slice(1)}`,
      `AAAB${header.slice(4)}`,
    ])
      expectCode("INVALID_ARGUMENT", () => decodePrepaidHeader(wrong));
  });
});

describe("values and epochs of prepaid tokens", () => {
  it("are 1, 2 or 5 times a power of ten", () => {
    for (const value of [1n, 2n, 5n, 10n, 500n, 2_000_000n, 10n ** 19n]) expect(isPrepaidValue(value)).to.equal(true);
    for (const value of [0n, 3n, 15n, 250n, 1001n]) expectCode("INVALID_AMOUNT", () => assertPrepaidValue(value));
    for (const value of [5, "5", 1n << 64n, -1n]) expectCode("INVALID_AMOUNT", () => assertPrepaidValue(value));
  });

  it("are UTC months: a key signs in its epoch, and its tokens are redeemed in that epoch and the next", () => {
    const [start, end] = [Date.UTC(2026, 11, 1), Date.UTC(2027, 0, 1)];
    expect(epochOf(start)).to.equal("2026-12");
    expect([start - 1, start, end - 1, end].map((time) => signsAt("2026-12", time))).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
    const last = Date.UTC(2027, 1, 1);
    expect([start - 1, start, last - 1, last].map((time) => redeemsAt("2026-12", time))).to.deep.equal([
      false,
      true,
      true,
      false,
    ]);
    expect(redemptionOf("2026-12")).to.deep.equal([start, last]);
    expect(redemptionOf("2999-12")).to.deep.equal([Date.UTC(2999, 11), Date.UTC(3000, 1)]);
    for (const isCurrent of [signsAt, redeemsAt]) {
      // The timestamp of a payment may be in no epoch.
      for (const time of [-1, Date.UTC(3000, 0), 8_640_000_000_000_000])
        expect(isCurrent("2026-12", time)).to.equal(false);
      for (const time of [1.5, Number.NaN, 2 ** 53]) expectCode("INVALID_INTEGER", () => isCurrent("2026-12", time));
    }
    expect(laterEpoch("2026-12", 1)).to.equal("2027-01");
    expect(laterEpoch("2026-12", -12)).to.equal("2025-12");
    for (const wrong of ["2026-13", "2026-00", "1999-01", "2026-1", "", 202612])
      expectCode("INVALID_STRING", () => laterEpoch(wrong as string, 0));
    expectCode("INVALID_STRING", () => laterEpoch("2999-12", 1));
    for (const time of [-1, 1.5, Number.NaN, Date.UTC(3000, 0)]) expectCode("INVALID_INTEGER", () => epochOf(time));
  });

  it("follow the calendar when months are added", () => {
    const months = fc.integer({ min: 0, max: 1200 });
    fc.assert(
      fc.property(
        fc.integer({ min: 2000, max: 2800 }),
        fc.integer({ min: 1, max: 12 }),
        months,
        (year, month, more) => {
          const epoch = `${year}-${String(month).padStart(2, "0")}`;
          expect(laterEpoch(epoch, more)).to.equal(epochOf(Date.UTC(year, month - 1 + more, 15)));
          expect(laterEpoch(laterEpoch(epoch, more), -more)).to.equal(epoch);
        },
      ),
      { numRuns: fuzzSize(200, 4_000) },
    );
  });
});

describe("a prepaid schedule", () => {
  const third = createSigner();
  const fourth = createSigner();
  const schedule: PrepaidSchedule = {
    wallet: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8",
    chainId: DEPLOYMENT.chainId,
    pool: "0x5fbdb2315678afecb367f032d93f642f64180aa3",
    origin: ORIGIN,
    firstEpoch: "2026-12",
    values: [100n, 500n],
    keys: [
      [signer.key, other.key],
      [third.key, fourth.key],
    ],
  };

  it("survives a round trip, and lists each key with its value and epoch", () => {
    expect(decodeSchedule(JSON.parse(JSON.stringify(encodeSchedule(schedule))))).to.deep.equal(schedule);
    expect(scheduledKeys(schedule).map(({ epoch, value, key }) => [epoch, value, key.id])).to.deep.equal([
      ["2026-12", 100n, signer.key.id],
      ["2026-12", 500n, other.key.id],
      ["2027-01", 100n, third.key.id],
      ["2027-01", 500n, fourth.key.id],
    ]);
  });

  it("is signed in full: any change changes the digest", () => {
    expect(scheduleTypedData(schedule).message).to.include({ values: "100, 500", epochs: 2, firstEpoch: "2026-12" });
    const changes: Partial<PrepaidSchedule>[] = [
      { wallet: schedule.pool },
      { chainId: schedule.chainId + 1n },
      { pool: schedule.wallet },
      { origin: "https://other.example" },
      { firstEpoch: "2026-11" },
      { values: [100n, 1000n] },
      { keys: [...schedule.keys].reverse() },
      { keys: schedule.keys.slice(1) },
    ];
    const digests = [{}, ...changes].map((change) => scheduleDigest({ ...schedule, ...change }));
    expect(new Set(digests).size).to.equal(changes.length + 1);
  });

  it("is refused if it is malformed, too large, or uses a key twice", () => {
    const wire = encodeSchedule(schedule);
    const wrong = [
      null,
      [],
      {},
      { ...wire, wallet: "0x12" },
      { ...wire, chainId: "1" },
      { ...wire, chainId: -1 },
      { ...wire, pool: undefined },
      { ...wire, origin: `${ORIGIN}/path` },
      { ...wire, firstEpoch: "2026-13" },
      { ...wire, firstEpoch: "2999-12" },
      { ...wire, values: ["500", "100"] },
      { ...wire, values: ["100", "300"] },
      { ...wire, values: ["100"] },
      { ...wire, values: [100, 500] },
      { ...wire, values: ["0100", "500"] },
      { ...wire, values: ["100.0", "500"] },
      { ...wire, values: Array(13).fill("1") },
      { ...wire, keys: [] },
      { ...wire, keys: [wire.keys[0], wire.keys[0]] },
      { ...wire, keys: [[wire.keys[0]![0], wire.keys[0]![0]]] },
      { ...wire, keys: Array(13).fill(wire.keys[0]) },
      { ...wire, keys: [["0x00", "0x00"]] },
      { ...wire, keys: "0x" },
    ];
    for (const value of wrong) expectCode("INVALID_ARGUMENT", () => decodeSchedule(value));
    // A chain id that a JSON number cannot represent.
    expectCode("INVALID_ARGUMENT", () => encodeSchedule({ ...schedule, chainId: 2n ** 53n }));
  });
});
