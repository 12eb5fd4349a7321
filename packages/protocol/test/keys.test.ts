import { inspect } from "node:util";
import { expectCode } from "@sotto/test-kit/rejection";
import { expect } from "chai";
import fc from "fast-check";
import {
  addMonths,
  addressOwnerTag,
  BASE8,
  bytesToHex,
  decodeShieldedAddress,
  deriveKeys,
  encodeShieldedAddress,
  FIELD_MODULUS,
  hexToBytes,
  MAX_KEY_INDEX,
  multiplyPoint,
  noteCommitment,
  nullifier,
  type Point,
  parseMonth,
  randomSeed,
  SUBGROUP_ORDER,
  type WalletKeys,
} from "../src/index.ts";
import { runs } from "./support/arbitraries.ts";
import { DEPLOYMENT } from "./support/deployment.ts";
import { expand } from "./support/oracle.ts";
import { vectors } from "./support/vectors.ts";

interface Vector {
  seed: string;
  viewingKey: bigint;
  changeKey: bigint;
  nonceKey: string;
  encryptionKey: Point;
  spendingKeys: { index: number; value: bigint }[];
  ownerTags: { index: number; value: bigint }[];
  shieldedAddress: string;
  months: { month: string; viewingKey: bigint; changeKey: bigint; shieldedAddress: string }[];
}

const seedBytes = (hex: string) => hexToBytes(hex, (hex.length - 2) / 2);
const anySeed = fc.uint8Array({ minLength: 32, maxLength: 64 });

describe("keys", () => {
  it("match the known keys of known seeds", () => {
    const known = vectors<Vector[]>("keys");
    expect(known).to.have.length(3);
    for (const vector of known) {
      const keys = deriveKeys(seedBytes(vector.seed), DEPLOYMENT);
      expect(keys.viewingKey).to.equal(vector.viewingKey);
      expect(keys.changeKey).to.equal(vector.changeKey);
      expect(bytesToHex(keys.nonceKey)).to.equal(vector.nonceKey);
      expect(keys.encryptionKey).to.deep.equal(vector.encryptionKey);
      expect(keys.shieldedAddress()).to.equal(vector.shieldedAddress);
      for (const { index, value } of vector.spendingKeys) expect(keys.spendingKey(index)).to.equal(value);
      expect(vector.months).to.have.length(3);
      for (const { month, ...known } of vector.months) {
        const { viewingKey, changeKey, shieldedAddress } = keys.ofMonth(parseMonth(month));
        expect({ viewingKey, changeKey, shieldedAddress }).to.deep.equal(known);
      }
      for (const { index, value } of vector.ownerTags) expect(keys.ownerTag(index)).to.equal(value);
    }
  });

  it("are in range, and the viewing key is odd", () => {
    fc.assert(
      fc.property(anySeed, fc.nat(MAX_KEY_INDEX), (seed, index) => {
        const keys = deriveKeys(seed, DEPLOYMENT);
        expect(keys.viewingKey & 1n).to.equal(1n);
        expect(keys.viewingKey > 0n && keys.viewingKey < SUBGROUP_ORDER).to.equal(true);
        expect(keys.spendingKey(index) < FIELD_MODULUS).to.equal(true);
        expect(keys.encryptionKey).to.deep.equal(multiplyPoint(BASE8, keys.viewingKey));
        const { encryptionKey, ownerTag } = decodeShieldedAddress(keys.shieldedAddress());
        expect(encryptionKey).to.deep.equal(keys.encryptionKey);
        expect([ownerTag, addressOwnerTag(keys.shieldedAddress())]).to.deep.equal(Array(2).fill(keys.ownerTag(0)));
      }),
      runs(10),
    );
  });

  it("differ by purpose and index", () => {
    const keys = deriveKeys(randomSeed(), DEPLOYMENT);
    const spending = Array.from({ length: 20 }, (_, i) => keys.spendingKey(i));
    const all = [...spending, keys.viewingKey, keys.changeKey, BigInt(bytesToHex(keys.nonceKey))];
    expect(new Set(all).size).to.equal(23);
    expect(randomSeed()).to.have.length(32);
    expect(randomSeed()).to.not.deep.equal(randomSeed());
  });

  it("of months differ from each other and from the lasting keys, and share the tag", () => {
    const [seed, elsewhere] = [randomSeed(), { ...DEPLOYMENT, chainId: 1n }];
    const keys = deriveKeys(seed, DEPLOYMENT);
    const months = Array.from({ length: 24 }, (_, n) => addMonths(parseMonth("2026-01"), n));
    const all = months.flatMap((month) => {
      const { viewingKey, changeKey, encryptionKey, shieldedAddress } = keys.ofMonth(month);
      expect(viewingKey & 1n).to.equal(1n);
      expect(encryptionKey).to.deep.equal(multiplyPoint(BASE8, viewingKey));
      expect(decodeShieldedAddress(shieldedAddress)).to.deep.equal({ encryptionKey, ownerTag: keys.ownerTag(0) });
      return [viewingKey, changeKey, shieldedAddress];
    });
    const otherPool = { ...DEPLOYMENT, pool: `0x${"5b".repeat(20)}` };
    const others = [deriveKeys(seed, elsewhere), deriveKeys(seed, otherPool), deriveKeys(randomSeed(), DEPLOYMENT)].map(
      (each) => each.ofMonth(months[0]!),
    );
    const rest = others.flatMap(({ viewingKey, changeKey, shieldedAddress }) => [
      viewingKey,
      changeKey,
      shieldedAddress,
    ]);
    const lasting = [keys.viewingKey, keys.changeKey, keys.shieldedAddress()];
    expect(new Set([...all, ...rest, ...lasting]).size).to.equal(3 * 24 + 9 + 3);
    expectCode("INVALID_MONTH", () => keys.ofMonth("2026-13" as never));
    const printed =
      inspect(keys.ofMonth(months[0]!), { depth: 5, showHidden: true }) +
      JSON.stringify({ ...keys.ofMonth(months[0]!), encryptionKey: 0 });
    for (const secret of all.slice(0, 2)) expect(printed).to.not.include(String(secret));
  });

  it("differ by pool and chain for one seed", () => {
    const seed = randomSeed();
    const here = deriveKeys(seed, DEPLOYMENT);
    const all = (keys: WalletKeys) => {
      const { viewingKey, changeKey, nonceKey } = keys;
      const { encryptionKey, ownerTag } = decodeShieldedAddress(keys.shieldedAddress());
      const secrets = [viewingKey, changeKey, bytesToHex(nonceKey), keys.spendingKey(0), keys.spendingKey(1)];
      return [...secrets, encryptionKey.x, ownerTag, keys.ownerTag(1)].map(String);
    };
    for (const deployment of [
      { ...DEPLOYMENT, chainId: 1n },
      { ...DEPLOYMENT, pool: `0x${"5b".repeat(20)}` },
    ])
      for (const key of all(deriveKeys(seed, deployment))) expect(all(here)).to.not.include(key);
    // The spelling of the pool's address makes no difference.
    const spelled = { ...DEPLOYMENT, pool: DEPLOYMENT.pool.toUpperCase().replace("0X", "0x") };
    expect(all(deriveKeys(seed, spelled))).to.deep.equal(all(here));
  });

  it("give different nullifiers in two pools for the same note at the same leaf index", () => {
    const seed = randomSeed();
    // The payer repeats everything that it can choose: amount, blinding, leaf index, and the tag of each address.
    const [amount, blinding, leafIndex] = [1_000_000n, 5n, 3];
    const shown = (deployment: typeof DEPLOYMENT, ownerTag: bigint) => {
      const commitment = noteCommitment({ amount, ownerTag, blinding });
      return nullifier(deriveKeys(seed, deployment).spendingKey(0), commitment, leafIndex);
    };
    const elsewhere = { ...DEPLOYMENT, chainId: 1n };
    const tags = [DEPLOYMENT, elsewhere].map((deployment) => deriveKeys(seed, deployment).ownerTag(0));
    for (const ownerTag of tags) expect(shown(DEPLOYMENT, ownerTag)).to.not.equal(shown(elsewhere, ownerTag));
    expect(shown(DEPLOYMENT, tags[0]!)).to.not.equal(shown(elsewhere, tags[1]!));
    expect(shown(DEPLOYMENT, tags[0]!)).to.equal(shown({ ...DEPLOYMENT }, tags[0]!));
  });

  it("derive secrets for extensions, by HKDF with the pool after the extension's name", () => {
    const [seed, elsewhere] = [randomSeed(), { ...DEPLOYMENT, chainId: 1n }];
    const pool = `${DEPLOYMENT.chainId}/${DEPLOYMENT.pool}`;
    const keys = deriveKeys(seed, DEPLOYMENT);
    expect(keys.derive("credit", 32)).to.deep.equal(expand(seed, `credit/${pool}`, 32));
    expect(keys.derive("credit/a/b", 48)).to.deep.equal(expand(seed, `credit/${pool}/a/b`, 48));
    const secrets = [
      ...["credit", "credit/", "credit/a", "credit/a/b", "tokens", "credit-keys"].map((label) =>
        keys.derive(label, 16),
      ),
      deriveKeys(seed, elsewhere).derive("credit", 16),
      deriveKeys(randomSeed(), DEPLOYMENT).derive("credit", 16),
      keys.nonceKey.slice(0, 16),
    ].map(bytesToHex);
    expect(new Set(secrets).size).to.equal(secrets.length);
  });

  it("give extensions no key of the wallet, and no secret of a malformed label or length", () => {
    const keys = deriveKeys(randomSeed(), DEPLOYMENT);
    for (const name of ["viewing", "change", "spending", "deposit", "nonce", "a-later"])
      for (const rest of ["", "/", `/${DEPLOYMENT.chainId}/${DEPLOYMENT.pool}`, "/1"])
        expectCode("LABEL_RESERVED", () => keys.derive(`${name}-key${rest}`, 48), /wallet's own keys/);
    const labels = ["", "/", "-key", "Credit", "credit key", "a".repeat(33), `a/${"b".repeat(1023)}`, "a/\ud800"];
    for (const label of [...labels, "__proto__", undefined, 5, {}])
      expectCode("INVALID_STRING", () => keys.derive(label as string, 32));
    for (const bytes of [0, 15, 65, 16.5, Number.NaN, "32", undefined])
      expectCode("INVALID_INTEGER", () => keys.derive("credit", bytes as number));
    expect(keys.derive(`a/${"b".repeat(1022)}`, 64), "the control").to.have.length(64);
  });

  it("are not derived if the pool is missing or malformed", () => {
    const seed = randomSeed();
    expectCode("INVALID_KEY", () => deriveKeys(seed, undefined as never), /belong to a pool/);
    expectCode("INVALID_ADDRESS", () => deriveKeys(seed, { ...DEPLOYMENT, pool: "0x12" }), /pool/);
    expectCode("INVALID_INTEGER", () => deriveKeys(seed, { ...DEPLOYMENT, chainId: -1n }), /chainId/);
  });

  it("do not change if the seed's bytes are mutated, and are not printed", () => {
    const seed = randomSeed();
    const keys = deriveKeys(seed, DEPLOYMENT);
    const before = keys.spendingKey(3);
    seed.fill(0);
    expect(keys.spendingKey(3)).to.equal(before);
    const printed = inspect(keys, { depth: 5, showHidden: true }) + JSON.stringify(keys);
    for (const secret of [keys.viewingKey, keys.changeKey, before]) {
      expect(printed).to.not.include(secret.toString());
      expect(printed).to.not.include(secret.toString(16));
    }
  });

  it("reject seeds and indices of the wrong size, without showing them", () => {
    for (const seed of [new Uint8Array(31), new Uint8Array(65), "00".repeat(32), undefined]) {
      const error = expectCode("INVALID_KEY", () => deriveKeys(seed as never, DEPLOYMENT), /32 to 64 bytes/);
      expect(error.message).to.not.include("0000");
    }
    const keys = deriveKeys(randomSeed(), DEPLOYMENT);
    for (const index of [-1, 1.5, MAX_KEY_INDEX + 1, "0", 1n]) {
      expectCode("INVALID_INTEGER", () => keys.spendingKey(index as never), /index/);
      expectCode("INVALID_INTEGER", () => keys.ownerTag(index as never), /index/);
    }
  });
});

describe("shielded addresses", () => {
  const keys = deriveKeys(new Uint8Array(32), DEPLOYMENT);
  const address = keys.shieldedAddress();

  it("are rejected if malformed, with the reason", () => {
    const refused = (value: unknown, reason: RegExp) =>
      expectCode("INVALID_SHIELDED_ADDRESS", () => decodeShieldedAddress(value), reason);
    refused(undefined, /64 bytes/);
    refused(address.slice(0, -2), /64 bytes/);
    refused(address.toUpperCase(), /lower-case/);
    refused(`0x01${"00".repeat(31)}${address.slice(66)}`, /identity/);
    refused(address.slice(0, 66) + FIELD_MODULUS.toString(16).padStart(64, "0"), /not below p/);
    refused(`0x${"ff".repeat(32)}${address.slice(66)}`, /below p/);
  });

  it("are made only of valid parts", () => {
    const { encryptionKey } = keys;
    expectCode("INVALID_FIELD_ELEMENT", () => encodeShieldedAddress({ encryptionKey, ownerTag: FIELD_MODULUS }));
    expectCode("INVALID_POINT", () => encodeShieldedAddress({ encryptionKey: { x: 0n, y: 1n }, ownerTag: 1n }));
  });
});
