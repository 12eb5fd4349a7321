import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MAX_PAYMENT_TOKEN_LENGTH, type PaymentTokenClaims } from "@sotto/protocol";
import { rejection } from "@sotto/test-kit/rejection";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { expect } from "chai";
import { addKey } from "../../src/token/add-key.ts";
import { keySource } from "../../src/token/development.ts";
import { KeyRing } from "../../src/token/key-ring.ts";
import { keysOfFolder, keysOfText } from "../../src/token/keys.ts";
import { TokenIssuer } from "../../src/token/token.ts";

const CLAIMS: PaymentTokenClaims = {
  jti: "one",
  digest: `0x${"ab".repeat(32)}`,
  chainId: "31337",
  pool: `0x${"22".repeat(20)}`,
  recipient: `0x${"33".repeat(20)}`,
  recipientKey: "1",
  recipientTag: "2",
  resourceHash: `0x${"55".repeat(32)}`,
  senderCommitment: "3",
  nullifier: "4",
  timestamp: 1_800_000_000_000,
  validUntil: 1_800_000_180,
};

describe("payment tokens", () => {
  let folder: string;
  let now = 1_800_000_000_000;
  const clock = () => now;
  const fail = (error: unknown) => {
    throw error;
  };
  const ring = () => KeyRing.open(() => keysOfFolder(folder), clock, fail);
  const kidOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[0]!, "base64url").toString()).kid;

  beforeEach(() => {
    folder = temporaryFolder("keys");
    now = 1_800_000_000_000;
  });

  it("are accepted by their issuer, and report expiry", async () => {
    await addKey(folder);
    const issuer = new TokenIssuer(await ring(), "issuer", clock);
    const token = await issuer.issue(CLAIMS, 120);
    const { claims, expired } = await issuer.read(token);
    expect(claims).to.deep.include(CLAIMS);
    expect(expired).to.equal(false);
    now += 120_000;
    expect((await issuer.read(token)).expired).to.equal(true);
  });

  it("fit into a proof header for all claims and service URLs", async () => {
    await addKey(folder);
    const largest = {
      ...CLAIMS,
      jti: "j".repeat(64),
      chainId: String((1n << 256n) - 1n),
      recipientKey: "1".repeat(77),
      recipientTag: "1".repeat(77),
      senderCommitment: "1".repeat(77),
      nullifier: "1".repeat(77),
      timestamp: 8_640_000_000_000_000,
      validUntil: Number.MAX_SAFE_INTEGER,
    };
    const issuer = new TokenIssuer(await ring(), `https://${"a".repeat(248)}`, clock);
    const token = await issuer.issue(largest, 120);
    expect(token.length).to.be.at.most(MAX_PAYMENT_TOKEN_LENGTH);
    expect((await issuer.read(token)).claims).to.deep.include({ jti: largest.jti });
  });

  it("are rejected if another issuer signed them, even with the same key", async () => {
    await addKey(folder);
    const token = await new TokenIssuer(await ring(), "other", clock).issue(CLAIMS, 120);
    const error = await rejection(new TokenIssuer(await ring(), "issuer", clock).read(token));
    expect(error.code).to.equal("INVALID_TOKEN");
  });

  it("rotate keys without downtime: a new key signs, the old one verifies until removed", async () => {
    const old = await addKey(folder, new Date(2026, 1, 1));
    const shared = await ring();
    const issuer = new TokenIssuer(shared, "issuer", clock);
    const before = await issuer.issue(CLAIMS, 300);
    await addKey(folder, new Date(2026, 1, 2));
    now += 10_000;
    const after = await issuer.issue(CLAIMS, 300);
    expect(kidOf(after)).to.not.equal(kidOf(before));
    expect((await shared.publicKeys()).keys.map(({ kid }) => kid)).to.deep.equal([kidOf(before), kidOf(after)]);
    expect((await issuer.read(before)).claims.jti).to.equal("one");
    rmSync(old);
    now += 10_000;
    expect((await rejection(issuer.read(before))).code).to.equal("INVALID_TOKEN");
    expect((await issuer.read(after)).claims.jti).to.equal("one");
  });

  it("are accepted immediately if another replica signed them with a newer key", async () => {
    await addKey(folder, new Date(2026, 1, 1));
    const behind = new TokenIssuer(await ring(), "issuer", clock);
    await addKey(folder, new Date(2026, 1, 2));
    const token = await new TokenIssuer(await ring(), "issuer", clock).issue(CLAIMS, 300);
    now += 1_000;
    expect((await behind.read(token)).claims.jti).to.equal("one");
  });

  it("keep their keys if the folder becomes unreadable, with a warning", async () => {
    const path = await addKey(folder);
    const errors: unknown[] = [];
    const kept = await KeyRing.open(
      () => keysOfFolder(folder),
      clock,
      (error) => errors.push(error),
    );
    writeFileSync(path, "{");
    now += 10_000;
    expect((await kept.signer()).kid).to.be.a("string");
    expect(errors).to.have.length(1);
  });
});

describe("token keys", () => {
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder("keys");
  });
  const source = (tokenKey: string | undefined, local: boolean) =>
    keySource({ tokenKey, tokenKeys: join(folder, "keys"), local } as Parameters<typeof keySource>[0]);

  it("are created in development, readable only by their owner", async () => {
    const [key] = await (await source(undefined, true))();
    expect(key!.publicJwk).to.have.all.keys("kty", "crv", "x", "kid", "alg", "use");
    const path = await addKey(join(folder, "keys"), new Date(2020, 1, 1));
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect(await (await source(undefined, true))()).to.have.length(2);
  });

  it("are not created elsewhere", async () => {
    const read = await source(undefined, false);
    expect((await rejection(read())).code).to.equal("TOKEN_KEY_INVALID");
  });

  it("can be text: one key, or a set whose last key signs", async () => {
    const texts = [await addKey(folder, new Date(2026, 1, 1)), await addKey(folder, new Date(2026, 1, 2))].map((path) =>
      readFileSync(path, "utf8"),
    );
    const set = `{"keys":[${texts.join(",")}]}`;
    expect(await (await source(texts[0], false))()).to.have.length(1);
    expect(await (await source(set, false))()).to.have.length(2);
  });

  it("are rejected if others can read them", async () => {
    chmodSync(await addKey(folder), 0o644);
    expect((await rejection(keysOfFolder(folder))).code).to.equal("TOKEN_KEY_INVALID");
  });

  for (const text of [
    "",
    "{}",
    "null",
    "[]",
    '{"keys":[]}',
    '{"kty":"OKP","crv":"X25519","x":"a","d":"canary"}',
    '{"kty":"OKP","crv":"Ed25519","x":"a","d":"canary"}',
  ])
    it(`are rejected if malformed: ${text}`, async () => {
      const error = await rejection(keysOfText(text, "a test"));
      expect(error.code).to.equal("TOKEN_KEY_INVALID");
      expect(error.message).to.not.include("canary");
    });
});
