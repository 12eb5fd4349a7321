import { createPublicKey, verify } from "node:crypto";
import {
  PAYMENT_SIGNAL,
  paymentSignals,
  randomField,
  rangeSignals,
  resourceHash,
  signalsDigest,
} from "@sotto/protocol";
import { type Answer, call, claimsOf, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { forgeBundle, merchantKey, merchantTag, RECIPIENT, RESOURCE } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { expect } from "chai";

const PRIVACY = { amountEncrypted: true, senderHidden: true, proofSystem: "groth16" };

describe("POST /verify", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  let root: bigint;
  const send = (body: unknown): Promise<Answer> => post(`${service.url}/verify`, body);
  const refused = async (body: unknown): Promise<unknown> => {
    const { status, body: answer } = await send(body);
    expect(status).to.equal(200);
    const { reason, message, ...rest } = answer;
    expect(rest).to.deep.equal({ valid: false, paymentToken: "", expiresIn: 0, privacy: PRIVACY });
    expect(message).to.be.a("string").and.not.equal("");
    return reason;
  };

  before(async () => {
    world = await openWorld();
    service = await openService();
    root = world.root;
  });
  after(() => service.close());

  it("answers a valid bundle with a token, with exactly the fields of the interface", async () => {
    const { status, headers, body } = await send(forgeBundle(world, { root }));
    expect(status).to.equal(200);
    expect(body).to.have.all.keys("valid", "paymentToken", "expiresIn", "privacy");
    expect(body["valid"]).to.equal(true);
    expect(body["privacy"]).to.deep.equal(PRIVACY);
    expect(body["paymentToken"]).to.match(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(body["expiresIn"]).to.be.within(60, 180);
    expect(headers.get("cache-control")).to.equal("no-store");
  });

  it("binds the token to the payment, and signs it with a published key", async () => {
    const bundle = forgeBundle(world, { root });
    const { body } = await send(bundle);
    const token = String(body["paymentToken"]);
    const claims = claimsOf(token);
    const signals = bundle.publicSignals.map(BigInt);
    expect(claims).to.include({
      iss: `urn:sotto:31337:${world.pool}`,
      digest: signalsDigest(signals),
      chainId: "31337",
      pool: world.pool,
      recipient: RECIPIENT,
      recipientKey: String(merchantKey.x),
      recipientTag: String(merchantTag),
      resourceHash: resourceHash(RESOURCE),
      senderCommitment: bundle.senderCommitment,
      nullifier: paymentSignals(bundle.publicSignals).nullifier,
      timestamp: bundle.timestamp,
    });
    expect(Number(claims["exp"]) - Number(claims["iat"])).to.equal(body["expiresIn"]);
    expect(claims["exp"]).to.be.at.most(claims["validUntil"]);

    const [header = "", payload = "", signature = ""] = token.split(".");
    const { kid, alg, typ } = JSON.parse(Buffer.from(header, "base64url").toString());
    expect([alg, typ]).to.deep.equal(["EdDSA", "sotto-payment-2+jwt"]);
    for (const base of [service.origin, service.url]) {
      const { body: set } = await call(`${base}/.well-known/jwks.json`);
      const jwk = (set["keys"] as { kid: string; d?: string }[]).find((key) => key.kid === kid)!;
      expect(jwk).to.not.have.property("d");
      const key = createPublicKey({ key: jwk, format: "jwk" });
      const signed = verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"));
      expect(signed).to.equal(true);
    }
  });

  it("issues a token for the same payment again", async () => {
    const bundle = forgeBundle(world, { root });
    const [first, second] = [await send(bundle), await send({ ...bundle, extra: 1 })];
    expect(claimsOf(second.body["paymentToken"])["jti"]).to.equal(claimsOf(first.body["paymentToken"])["jti"]);
  });

  describe("rejects with 200, all fields and a reason", () => {
    const far = { 1: 5n };
    const minutes = (count: number) => Date.now() - count * 60_000;
    const cases: [string, string, () => unknown][] = [
      [
        "a proof of other signals",
        "INVALID_PROOF",
        () => ({ ...forgeBundle(world, { root }), proof: proofOfAnother() }),
      ],
      [
        "an amount proof of other signals",
        "INVALID_AMOUNT_PROOF",
        () => ({ ...forgeBundle(world, { root }), amountProof: forgeBundle(world, { root }).amountProof }),
      ],
      [
        "another ciphertext beside the proofs",
        "CIPHERTEXT_MISMATCH",
        () => ({ ...forgeBundle(world, { root }), encryptedAmount: forgeBundle(world, { root }).encryptedAmount }),
      ],
      [
        "an amount proof of another ciphertext",
        "CIPHERTEXT_MISMATCH",
        () => forgeBundle(world, { root }, { amountPublicSignals: far }),
      ],
      [
        "a payment of another ciphertext",
        "CIPHERTEXT_MISMATCH",
        () => forgeBundle(world, { root }, { publicSignals: { 2: 5n } }),
      ],
      ["C in the open on chain", "CIPHERTEXT_MISMATCH", () => withPlainC()],
      [
        "another wallet",
        "RECIPIENT_MISMATCH",
        () => ({ ...forgeBundle(world, { root }), recipientPublicKey: `0x${"11".repeat(20)}` }),
      ],
      ["another key", "RECIPIENT_MISMATCH", () => forgeBundle(world, { root }, { amountPublicSignals: { 2: 5n } })],
      ["another tag", "RECIPIENT_MISMATCH", () => forgeBundle(world, { root }, { amountPublicSignals: { 3: 5n } })],
      [
        "another resource",
        "RESOURCE_MISMATCH",
        () => ({ ...forgeBundle(world, { root }), resourceUrl: `${RESOURCE}#` }),
      ],
      [
        "another time",
        "RESOURCE_MISMATCH",
        () => ({ ...forgeBundle(world, { root, timestamp: minutes(0) }), timestamp: minutes(0) - 1 }),
      ],
      ["another pool", "RESOURCE_MISMATCH", () => forgeBundle({ ...world, pool: world.token }, { root })],
      ["another chain", "RESOURCE_MISMATCH", () => forgeBundle({ ...world, chainId: 1 }, { root })],
      [
        "what is older than 5 minutes",
        "TIMESTAMP_TOO_OLD",
        () => forgeBundle(world, { root, timestamp: minutes(5.1) }),
      ],
      ["what is of the future", "TIMESTAMP_IN_FUTURE", () => forgeBundle(world, { root, timestamp: minutes(-10) })],
      ["what can no longer settle", "TOO_LATE_TO_SETTLE", () => forgeBundle(world, { root, timestamp: minutes(2.6) })],
      ["a root the pool never had", "UNKNOWN_ROOT", () => forgeBundle(world, { root: randomField() })],
      ["less than the smallest amount", "AMOUNT_TOO_SMALL", () => forgeBundle(world, { root, lowerBound: 999n })],
      [
        "a bundle that names another set of keys",
        "ARTIFACT_SET_MISMATCH",
        () => ({ ...forgeBundle(world, { root }), artifactSet: "00".repeat(32) }),
      ],
    ];
    const proofOfAnother = () => forgeBundle(world, { root }).proof;
    const withPlainC = () => {
      const senderCommitment = randomField();
      const { amountPublicSignals } = forgeBundle(world, { root, senderCommitment });
      const bare = { [PAYMENT_SIGNAL.hiddenCipherX]: BigInt(rangeSignals(amountPublicSignals).cipherX) };
      return forgeBundle(world, { root, senderCommitment }, { publicSignals: bare });
    };
    for (const [what, reason, bundle] of cases)
      it(`${what}: ${reason}`, async () => {
        expect(await refused(bundle())).to.equal(reason);
      });

    it("accepts a timestamp 29 s in the future", async () => {
      const { body } = await send(forgeBundle(world, { root, timestamp: Date.now() + 29_000 }));
      expect(body["valid"]).to.equal(true);
    });

    it("accepts a bundle that names the artifact set of /circuits", async () => {
      const { body: circuits } = await call(`${service.url}/circuits`);
      const artifactSet = (circuits["artifactSet"] as { id: string }).id;
      expect((await send({ ...forgeBundle(world, { root }), artifactSet })).body["valid"]).to.equal(true);
    });
  });

  it("leaves no trace of proofs, tokens, resources or wallets in its log", async () => {
    const bundle = forgeBundle(world, { root });
    const { body } = await send(bundle);
    const log = service.logged.join("");
    expect(log).to.include('"route":"/zk/verify"');
    for (const secret of [bundle.proof[0], bundle.senderCommitment, body["paymentToken"], RESOURCE, RECIPIENT])
      expect(log).to.not.include(String(secret));
  });
});
