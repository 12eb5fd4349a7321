// Which requests count against a client's quota, and which addresses are one client.

import { randomField } from "@sotto/protocol";
import { clockWithin, DAY_MS } from "@sotto/test-kit/clock";
import { post } from "@sotto/test-kit/http";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { proveWithdrawal } from "@sotto/test-pool/statements";
import { forgeBundle } from "@sotto/test-world/bundles";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { expect } from "chai";

describe("quotas", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let service: TestService;
  before(async () => {
    world = await openWorld();
  });
  afterEach(() => service.close());

  /** A bundle with the proof of another bundle. */
  const unproven = (change: { timestamp?: number; root?: bigint; nullifier?: bigint } = {}) => ({
    ...forgeBundle(world, { root: world.root, ...change }),
    proof: forgeBundle(world, { root: world.root }).proof,
  });
  const resultOf = async (body: unknown, headers: Record<string, string> = {}) => {
    const { body: answer } = await post(`${service.url}/verify`, body, headers);
    return answer["valid"] === true ? "valid" : (answer["reason"] ?? answer["code"]);
  };

  it("count invalid proofs of payments and withdrawals, and nothing that is rejected earlier", async () => {
    service = await openService({ SOTTO_CLIENT_QUOTA: "3" }, clockWithin(DAY_MS));
    for (let i = 0; i < 4; i += 1) {
      expect(await resultOf(unproven({ timestamp: Date.now() - 600_000 }))).to.equal("TIMESTAMP_TOO_OLD");
      expect(await resultOf(unproven({ root: randomField() }))).to.equal("UNKNOWN_ROOT");
      expect(await resultOf({ ...unproven(), artifactSet: "00" })).to.equal("ARTIFACT_SET_MISMATCH");
    }
    expect(await resultOf(unproven())).to.equal("INVALID_PROOF");
    expect(await resultOf(unproven())).to.equal("INVALID_PROOF");
    const { proof, signals, recipient, fee, feeRecipient, validUntil } = withdrawal();
    const wrong = {
      signals: signals.map(String),
      recipient,
      fee: String(fee),
      feeRecipient,
      validUntil: String(validUntil),
    };
    const asked = { ...wrong, proof: withdrawal().proof.map(String) };
    expect((await post(`${service.url}/withdraw`, asked)).body["code"]).to.equal("INVALID_PROOF");
    expect(await resultOf(forgeBundle(world, { root: world.root }))).to.equal("QUOTA_EXCEEDED");
    const right = { ...wrong, proof: proof.map(String) };
    const { status, body } = await post(`${service.url}/withdraw`, right);
    expect([status, body["code"]]).to.deep.equal([429, "QUOTA_EXCEEDED"]);
  });

  it("count an IPv6 address towards its /64, /56 and /48, and an IPv4 address in any spelling", async () => {
    const settings = { SOTTO_CLIENT_QUOTA: "1", SOTTO_TRUST_PROXY: "loopback" };
    service = await openService(settings, clockWithin(DAY_MS));
    const of = (address: string) => resultOf(forgeBundle(world, { root: world.root }), { "x-forwarded-for": address });
    const steps: [address: string, result: string][] = [
      ["2001:db8:1:100::1", "valid"],
      ["2001:db8:1:100::2", "QUOTA_EXCEEDED"],
      ["2001:db8:1:101::1", "valid"],
      // The /56 has used its two.
      ["2001:db8:1:102::1", "QUOTA_EXCEEDED"],
      ["2001:db8:1:200::1", "valid"],
      ["2001:db8:1:201::1", "valid"],
      // The /48 has used its four.
      ["2001:db8:1:300::1", "QUOTA_EXCEEDED"],
      ["2001:db8:2:100::1", "valid"],
      ["192.0.2.7", "valid"],
      ["::ffff:192.0.2.7", "QUOTA_EXCEEDED"],
      ["192.0.2.8", "valid"],
    ];
    for (const [address, result] of steps) expect(await of(address), address).to.equal(result);
  });

  function withdrawal() {
    const random = new Random(`withdrawal ${Math.random()}`);
    const place = { chainId: BigInt(world.chainId), pool: world.pool };
    const validUntil = BigInt(Math.floor(Date.now() / 1000) + 300);
    const nullifiers = [random.field()];
    return proveWithdrawal(place, random, {
      root: world.root,
      validUntil,
      nullifiers,
      amount: 5_000n,
      recipient: random.address(),
    });
  }
});
