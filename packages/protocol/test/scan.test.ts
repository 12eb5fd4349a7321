import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import { invertField, sqrtField } from "../src/field.ts";
import {
  addPoints,
  BASE8,
  changeSecrets,
  type DeliveredNote,
  decryptChange,
  deriveKeys,
  encryptAmount,
  FIELD_MODULUS,
  hintOf,
  MAX_AMOUNT,
  multiplyPoint,
  negatePoint,
  noteCommitment,
  noteSecrets,
  type Point,
  parseMonth,
  pointFromX,
  SUBGROUP_ORDER,
  scanNotes,
  tryDecrypt,
} from "../src/index.ts";
import { multiplyXs } from "../src/scan/ladder.ts";
import { amount, encryptionScalar, runs, scalar } from "./support/arbitraries.ts";
import { DEPLOYMENT } from "./support/deployment.ts";

const merchant = deriveKeys(new Uint8Array(32).fill(7), DEPLOYMENT);
const stranger = deriveKeys(new Uint8Array(32).fill(8), DEPLOYMENT);
const viewer = { viewingKeys: [merchant.viewingKey], ownerTag: merchant.ownerTag(0) };

function deliver(key: Point, ownerTag: bigint, value: bigint, b: bigint): DeliveredNote {
  const { R, S } = encryptAmount(key, value, b);
  const { blinding, pad } = noteSecrets(S.x, R.x);
  return {
    ephemeralX: R.x,
    amountHint: hintOf(pad, value),
    recipientCommitment: noteCommitment({ amount: value, ownerTag, blinding }),
  };
}

const multiplyX = (x: bigint, k: bigint) => multiplyXs([x], [k])[0]![0];

const odd = scalar.map((k) => (k | 1n) % SUBGROUP_ORDER).filter((k) => (k & 1n) === 1n);

describe("the x of a multiple, computed from x alone", () => {
  it("equals point arithmetic for random and extreme odd scalars", () => {
    const check = (k: bigint, base: Point) => expect(multiplyX(base.x, k)).to.equal(multiplyPoint(base, k).x);
    const other = multiplyPoint(BASE8, 987654321n);
    const powers = Array.from({ length: 251 }, (_, i) => (1n << BigInt(i)) | 1n);
    for (const k of [1n, 3n, 5n, 7n, SUBGROUP_ORDER - 2n, SUBGROUP_ORDER - 4n, ...powers]) check(k, other);
    const nonZero = scalar.filter((value) => value !== 0n);
    fc.assert(
      fc.property(odd, nonZero, (k, base) => {
        check(k, multiplyPoint(BASE8, base));
      }),
      runs(15),
    );
  });

  it("is the same for both points with that x", () => {
    const R = multiplyPoint(BASE8, 12345n);
    const twin = { x: R.x, y: FIELD_MODULUS - R.y };
    expect(twin).to.deep.equal(addPoints(negatePoint(R), { x: 0n, y: FIELD_MODULUS - 1n }));
    const k = merchant.viewingKey;
    expect(multiplyPoint(twin, k).x).to.equal(multiplyPoint(R, k).x);
    expect(multiplyX(R.x, k)).to.equal(multiplyPoint(R, k).x);
    expect(multiplyPoint(twin, k + 1n).x).to.not.equal(multiplyPoint(R, k + 1n).x);
  });

  it("computes each x of a batch independently of its neighbours", () => {
    const bases = [3n, 5n, 7n].map((k) => multiplyPoint(BASE8, k).x);
    const ks = [merchant.viewingKey, stranger.viewingKey, 1n];
    const batch = multiplyXs([bases[0]!, 0n, bases[1]!, 1n, bases[2]!], ks);
    const alone = bases.map((x) => ks.map((k) => multiplyX(x, k)));
    expect([batch[0], batch[2], batch[4]]).to.deep.equal(alone);
    expect(batch[1]).to.deep.equal([null, null, null]);
    expect(multiplyXs(bases, [])).to.deep.equal([[], [], []]);
  });

  it("has no result for the x of points of order 1, 2 and 4, so that such a note belongs to no viewer", () => {
    const ofOrder4 = invertField(sqrtField(168700n)!); // y = 0 and a x^2 = 1
    expect(multiplyPoint({ x: ofOrder4, y: 0n }, 4n)).to.deep.equal({ x: 0n, y: 1n });
    for (const x of [0n, ofOrder4, FIELD_MODULUS - ofOrder4]) {
      expect(multiplyX(x, merchant.viewingKey)).to.equal(null);
      const note = deliver(merchant.encryptionKey, viewer.ownerTag, 1n, 1n);
      expect(tryDecrypt(viewer, { ...note, ephemeralX: x })).to.equal(null);
    }
  });

  it("handles every x, even one that is not on the curve", () => {
    for (const x of [0n, 1n, 2n, 3n, FIELD_MODULUS - 1n]) {
      const result = multiplyX(x, merchant.viewingKey);
      expect(result === null || (result! >= 0n && result! < FIELD_MODULUS)).to.equal(true);
    }
  });
});

describe("scanning delivered notes", () => {
  it("reads the recipient's amount and blinding", () => {
    fc.assert(
      fc.property(amount, encryptionScalar, (value, b) => {
        const note = tryDecrypt(viewer, deliver(merchant.encryptionKey, viewer.ownerTag, value, b));
        expect(note?.amount).to.equal(value);
      }),
      runs(8),
    );
  });

  it("finds the viewer's notes among others', in order", () => {
    const notes = [1n, 2n, 3n, 4n, 5n].map((b) => {
      const mine = b % 2n === 0n;
      const keys = mine ? merchant : stranger;
      return deliver(keys.encryptionKey, keys.ownerTag(0), 100n * b, b);
    });
    expect(scanNotes(viewer, notes).map((note) => note?.amount ?? null)).to.deep.equal([null, 200n, null, 400n, null]);
    expect(scanNotes(viewer, [])).to.deep.equal([]);
  });

  it("says which of several keys opened a note, and tries all of them", () => {
    const month = merchant.ofMonth(parseMonth("2026-12"));
    const tag = merchant.ownerTag(0);
    const notes = [month.encryptionKey, merchant.encryptionKey, stranger.encryptionKey].map((key, i) =>
      deliver(key, tag, BigInt(i + 1), BigInt(i + 5)),
    );
    const both = { ownerTag: tag, viewingKeys: [merchant.viewingKey, month.viewingKey] };
    const found = scanNotes(both, notes).map((note) => note && [note.key, note.amount]);
    expect(found).to.deep.equal([[1, 1n], [0, 2n], null]);
    expect(scanNotes({ ...both, viewingKeys: [] }, notes)).to.deep.equal([null, null, null]);
    expectCode("INVALID_KEY", () => scanNotes({ ...both, viewingKeys: undefined as never }, notes), /viewingKeys/);
  });

  it("reads nothing if any part of the event differs from what the circuit proves", () => {
    const sound = deliver(merchant.encryptionKey, viewer.ownerTag, 500n, 77n);
    expect(tryDecrypt(viewer, sound)).to.not.equal(null);
    const other = deliver(merchant.encryptionKey, viewer.ownerTag, 500n, 78n);
    for (const part of Object.keys(sound) as (keyof DeliveredNote)[]) {
      expect(tryDecrypt(viewer, { ...sound, [part]: other[part] }), part).to.equal(null);
    }
    expect(tryDecrypt({ ...viewer, ownerTag: stranger.ownerTag(0) }, sound)).to.equal(null);
    expect(tryDecrypt({ ...viewer, viewingKeys: [stranger.viewingKey] }, sound)).to.equal(null);
  });

  it("rejects amounts of more than 64 bits even if everything else is valid", () => {
    const { R, S } = encryptAmount(merchant.encryptionKey, 0n, 5n);
    const { blinding, pad } = noteSecrets(S.x, R.x);
    const tooMuch = MAX_AMOUNT + 1n;
    expectCode("INVALID_AMOUNT", () => noteCommitment({ amount: tooMuch, ownerTag: viewer.ownerTag, blinding }));
    const event = {
      ephemeralX: R.x,
      amountHint: hintOf(pad, tooMuch),
      recipientCommitment: 1n,
    };
    expect(tryDecrypt(viewer, event)).to.equal(null);
  });

  it("accepts the smallest and the largest viewing key", () => {
    for (const viewingKey of [1n, SUBGROUP_ORDER - 2n]) {
      const delivered = deliver(multiplyPoint(BASE8, viewingKey), viewer.ownerTag, 9n, 10n);
      expect(tryDecrypt({ ...viewer, viewingKeys: [viewingKey] }, delivered)?.amount).to.equal(9n);
    }
  });

  it("rejects viewing keys that are even, zero or too large, and events that are not field elements", () => {
    const note = deliver(merchant.encryptionKey, viewer.ownerTag, 1n, 1n);
    for (const viewingKey of [0n, 2n, SUBGROUP_ORDER, -1n, 3, undefined]) {
      expectCode("INVALID_KEY", () => tryDecrypt({ ...viewer, viewingKeys: [viewingKey as never] }, note), /odd/);
      expectCode(
        "INVALID_KEY",
        () => scanNotes({ ...viewer, viewingKeys: [merchant.viewingKey, viewingKey as never] }, [note]),
        /odd/,
      );
    }
    for (const bad of [undefined, {}]) expectCode("INVALID_ARGUMENT", () => scanNotes(viewer, bad as never), /array/);
    for (const part of Object.keys(note)) {
      expectCode(
        "INVALID_FIELD_ELEMENT",
        () => tryDecrypt(viewer, { ...note, [part]: FIELD_MODULUS }),
        new RegExp(part),
      );
      expectCode("INVALID_FIELD_ELEMENT", () => scanNotes(viewer, [{ ...note, [part]: undefined }]), new RegExp(part));
    }
  });

  it("recovers a point of the subgroup from its x", () => {
    const R = multiplyPoint(BASE8, 31n);
    expect(pointFromX(R.x)).to.deep.equal(R);
  });
});

describe("scanning for change", () => {
  const reader = { changeKey: merchant.changeKey, ownerTag: merchant.ownerTag(0) };
  const { blinding, pad } = changeSecrets(reader.changeKey, 5n, 6n);
  const change = { amount: 42n, ownerTag: reader.ownerTag, blinding };
  const event = { nullifier: 5n, unique: 6n, changeHint: hintOf(pad, 42n), changeCommitment: noteCommitment(change) };

  it("finds the wallet's own change and nothing else", () => {
    const most = { amount: MAX_AMOUNT, ownerTag: reader.ownerTag, blinding };
    const full = { ...event, changeHint: hintOf(pad, MAX_AMOUNT), changeCommitment: noteCommitment(most) };
    expect(decryptChange(reader, full)).to.deep.equal(most);
    expect(decryptChange(reader, { ...full, changeHint: hintOf(pad, MAX_AMOUNT + 1n) })).to.equal(null);
    expect(decryptChange(reader, event)).to.deep.equal(change);
    for (const part of Object.keys(event) as (keyof typeof event)[]) {
      expect(decryptChange(reader, { ...event, [part]: event[part] + 1n }), part).to.equal(null);
    }
    expect(decryptChange({ ...reader, changeKey: stranger.changeKey }, event)).to.equal(null);
    expect(decryptChange({ ...reader, ownerTag: 1n }, event)).to.equal(null);
  });

  it("rejects values that are not field elements", () => {
    for (const part of Object.keys(event)) {
      expectCode("INVALID_FIELD_ELEMENT", () => decryptChange(reader, { ...event, [part]: -1n }));
    }
    expectCode("INVALID_FIELD_ELEMENT", () => decryptChange({ ...reader, changeKey: FIELD_MODULUS }, event));
  });
});
