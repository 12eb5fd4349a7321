// The registry rejects every signature that is not from this wallet, for this number, key, chain, pool, registry and
// time. It checks contract wallets on chain, and no wallet can cause unlimited calls.

import { startNode } from "@sotto/local/chain/node";
import { bindingSlots, type ShieldedAddressBinding } from "@sotto/protocol";
import { clockWithin } from "@sotto/test-kit/clock";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { ANSWER, contractWallet, futureWallet, troublesome } from "@sotto/test-world/contract-wallets";
import { expect } from "chai";
import {
  account,
  call,
  linkBody,
  linkVerified,
  newNumber,
  newShieldedAddress,
  openTestRegistry,
  proofOf,
  registryOf,
  unlinkBody,
} from "./support/world.ts";

/** Order of secp256k1. */
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

describe("signatures for a phone registry", function () {
  const registry = registryOf(this, { SOTTO_PHONE_CONTRACT_CHECKS: "1000" });

  const codeOf = async (body: unknown) => {
    const answer = await registry.link(body);
    return answer.status === 200 ? 200 : answer.body["code"];
  };

  const foreign: [string, Partial<ShieldedAddressBinding>][] = [
    ["another chain", { chainId: 1n }],
    ["another pool", { pool: `0x${"ab".repeat(20)}` }],
    ["another registry", { service: "https://other.example/zk" }],
    ["this registry by another spelling of its address", { service: "http://localhost/zk" }],
    ["no registry", { service: "" }],
    ["another number", { phone: "+4915100000000" }],
    ["no number", { phone: "" }],
    ["another wallet", { wallet: `0x${"cd".repeat(20)}` }],
  ];
  for (const [what, lies] of foreign)
    it(`are rejected for ${what}`, async () => {
      expect(await codeOf(await linkBody(registry, account(), newNumber(), lies))).to.equal("SIGNATURE_INVALID");
    });

  it("are rejected for another key, and from another account", async () => {
    const [signer, other, phone] = [account(), account(), newNumber()];
    const right = await linkBody(registry, signer, phone);
    expect(await codeOf({ ...right, encryptionPublicKey: newShieldedAddress() })).to.equal("SIGNATURE_INVALID");
    expect(await codeOf({ ...right, walletAddress: other.address })).to.equal("SIGNATURE_INVALID");
    expect(await codeOf(right)).to.equal(200);
  });

  it("are rejected in every other form: high s, other v, truncated, longer, missing", async () => {
    const [signer, phone] = [account(), newNumber()];
    const right = await linkBody(registry, signer, phone);
    const { signature } = right;
    const [r, s, v] = [signature.slice(2, 66), BigInt(`0x${signature.slice(66, 130)}`), signature.slice(130)];
    const high = `0x${r}${(N - s).toString(16).padStart(64, "0")}${v === "1b" ? "1c" : "1b"}`;
    for (const bad of [high, `0x${r}${signature.slice(66, 130)}1d`, signature.slice(0, -4), `${signature}00`])
      expect(await codeOf({ ...right, signature: bad }), bad).to.equal("SIGNATURE_INVALID");
    for (const bad of [`0x${"00".repeat(65)}`, `0x${"ff".repeat(65)}`])
      expect(await codeOf({ ...right, signature: bad }), bad).to.equal("SIGNATURE_INVALID");
    expect(await codeOf({ ...right, signature: "0x0" })).to.equal("INVALID_REQUEST");
    expect(await codeOf({ ...right, signature: "0xzz" })).to.equal("BINDING_SIGNATURE_INVALID");
    expect(await codeOf({ ...right, signature: `0x${"ab".repeat(9000)}` })).to.equal("INVALID_REQUEST");
    // The 64 bytes of EIP-2098 encode the same signature.
    const yParity = v === "1c" ? 1n << 255n : 0n;
    expect(await codeOf({ ...right, signature: `0x${r}${(s | yParity).toString(16).padStart(64, "0")}` })).to.equal(
      200,
    );
  });

  it("are accepted once: a verified, replaced or revoked link cannot be replayed", async () => {
    const [first, second, phone] = [account(), account(), newNumber()];
    const [issuedAt = 0] = bindingSlots(Date.now());
    const old = await linkVerified(registry, first, phone, { issuedAt });
    expect(await codeOf({ ...old, issuedAt })).to.equal("SIGNATURE_REPLAYED");
    await linkVerified(registry, second, phone);
    // The attacker has seen the first owner's request; another encoding of its signature signs the same struct.
    for (const signature of [old.signature, compact(old.signature)])
      expect(await codeOf({ ...old, signature, issuedAt })).to.equal("SIGNATURE_REPLAYED");
    expect((await registry.resolve(phone)).body["wallet"]).to.equal(second.address);
    const taken = await unlinkBody(registry, second, phone);
    expect((await registry.unlink(taken)).status).to.equal(200);
    expect((await registry.resolve(phone)).status).to.equal(404);
    const again = { ...(await linkBody(registry, second, phone, { issuedAt })), issuedAt };
    expect(await codeOf(again)).to.equal(200);
  });

  it("expire, for links and for revocation", async () => {
    const [signer, phone] = [account(), newNumber()];
    const [issuedAt = 0] = bindingSlots(Date.now());
    const body = await linkBody(registry, signer, phone, { issuedAt });
    const unlink = await unlinkBody(registry, signer, phone, issuedAt);
    registry.ahead = 25 * 3_600_000;
    expect(await codeOf({ ...body, issuedAt })).to.equal("BINDING_STALE");
    expect(await codeOf(body)).to.equal("SIGNATURE_INVALID");
    expect((await registry.unlink(unlink)).body["code"]).to.equal("BINDING_STALE");
    registry.ahead = -3_600_000;
    expect(await codeOf({ ...body, issuedAt })).to.equal("BINDING_FROM_THE_FUTURE");
  });

  it("are valid for 400 days, then the number is unknown", async () => {
    const [signer, phone] = [account(), newNumber()];
    await linkVerified(registry, signer, phone);
    registry.ahead = 399 * 86_400_000;
    expect((await registry.resolve(phone)).status).to.equal(200);
    registry.ahead = 401 * 86_400_000;
    expect((await registry.resolve(phone)).status).to.equal(404);
  });

  it("are checked on chain for contract wallets, deployed or not", async () => {
    for (const make of [contractWallet, futureWallet]) {
      const [signer, phone] = [await make(registry.world), newNumber()];
      await linkVerified(registry, signer, phone);
      expect((await registry.resolve(phone)).body).to.include({ wallet: signer.address, verified: true });
      const other = newNumber();
      const foreignBody = { ...(await linkBody(registry, signer, newNumber())), phoneNumber: other };
      expect(await codeOf(foreignBody)).to.equal("SIGNATURE_INVALID");
      const body = await unlinkBody(registry, signer, phone);
      expect((await registry.unlink(body)).status).to.equal(200);
    }
  });

  it("are rejected without a server error if the contract misbehaves", async () => {
    const magic = `0x1626ba7e${"00".repeat(28)}`;
    const wallets = [
      await troublesome(registry.world, ANSWER.Revert),
      await troublesome(registry.world, ANSWER.RevertWithMagic, magic),
      await troublesome(registry.world, ANSWER.Bytes, "0x"),
      await troublesome(registry.world, ANSWER.Bytes, `0x${"00".repeat(32)}`),
      await troublesome(registry.world, ANSWER.BurnGas),
      await troublesome(registry.world, ANSWER.HugeReturn),
      await troublesome(registry.world, ANSWER.Write, magic),
      registry.world.pool,
      registry.world.token,
      `0x${"00".repeat(19)}01`,
    ];
    for (const wallet of wallets) {
      const right = await linkBody(registry, account(), newNumber(), { wallet: wallet as `0x${string}` });
      expect(await codeOf({ ...right, walletAddress: wallet }), wallet).to.equal("SIGNATURE_INVALID");
    }
  });

  it("that contracts check count against quotas, so that nobody can cause unlimited calls", async () => {
    const limited = closedAfterTest(
      await openTestRegistry({ SOTTO_PHONE_CONTRACT_CHECKS: "4" }, { clock: clockWithin(3_600_000) }),
    );
    const signer = await contractWallet(limited.world);
    const ask = async (body: unknown) => {
      const answer = await limited.link(body);
      return [answer.status, answer.body["code"], answer.headers.get("retry-after")];
    };
    const [issuedAt = 0] = bindingSlots(Date.now());
    const wrong = { ...(await linkBody(limited, signer, newNumber())), phoneNumber: newNumber(), issuedAt };
    for (let index = 0; index < 4; index += 1) expect((await ask(wrong))[1]).to.equal("SIGNATURE_INVALID");
    const [status, code, retryAfter] = await ask(wrong);
    expect([status, code]).to.deep.equal([429, "CONTRACT_CHECKS_LIMITED"]);
    expect(Number(retryAfter)).to.be.within(1, 3600);
    // An account's signature needs no chain.
    expect((await ask(await linkBody(limited, account(), newNumber())))[0]).to.equal(200);
    const metrics = await (await fetch(`${new URL(limited.url).origin}/metrics`)).text();
    expect(metrics).to.match(/sotto_phone_contract_checks_total\{outcome="limited"\} 1/);
  });

  it("that contracts check fail over to the next node", async () => {
    const { node } = registry.world;
    const unreachable = "http://127.0.0.1:1/key-of-a-customer";
    const second = closedAfterTest(await openTestRegistry({ SOTTO_RPC_URLS: `${unreachable},${node.url}` }));
    const signer = await contractWallet(second.world);
    expect((await second.link(await linkBody(second, signer, newNumber()))).status).to.equal(200);
  });

  it("that contracts check are not rejected because the first node lacks the contract", async () => {
    const node = await FaultyNode.start(registry.world.node.url);
    const second = await openTestRegistry({ SOTTO_RPC_URLS: `${node.url},${registry.world.node.url}` });
    const empty = await startNode();
    try {
      for (const kind of ["behind", "empty", "pruned"] as const) {
        const signer = await contractWallet(second.world);
        node.mode = kind === "behind" ? "isBehind" : kind === "pruned" ? "hasOnlyNewState" : "honest";
        node.target = kind === "empty" ? empty.url : registry.world.node.url;
        const body = await linkBody(second, signer, newNumber());
        expect((await second.link(body)).status, kind).to.equal(200);
        // Control: a contract that did not sign.
        const other = { ...(await linkBody(second, signer, newNumber())), phoneNumber: newNumber() };
        expect((await second.link(other)).body["code"], kind).to.equal("SIGNATURE_INVALID");
      }
    } finally {
      await second.close();
      await node.stop();
      await empty.stop();
    }
  });

  it("that contracts check are never accepted or rejected because of a faulty node", async () => {
    const node = await FaultyNode.start(registry.world.node.url);
    const lone = await openTestRegistry({ SOTTO_RPC_URLS: node.url });
    try {
      const signer = await contractWallet(lone.world);
      for (const mode of ["breaksOff", "talksNonsense", "isOverloaded", "givesWrongForms"] as const) {
        node.mode = mode;
        const body = await linkBody(lone, signer, newNumber());
        const answer = await lone.link(body);
        expect([answer.status, answer.body["code"]], mode).to.deep.equal([503, "CHAIN_UNAVAILABLE"]);
        expect(answer.headers.get("retry-after"), mode).to.not.equal(null);
        // An account's signature needs no chain.
        const own = await linkBody(lone, account(), newNumber());
        expect((await lone.link(own)).status, mode).to.equal(200);
        node.mode = "honest";
        expect((await lone.link(body)).status, mode).to.equal(200);
      }
      node.mode = "isOnAnotherChain";
      lone.ahead = 61_000;
      const body = await linkBody(lone, signer, newNumber());
      expect((await lone.link(body)).status).to.equal(503);
      expect((await call(`${lone.url}/readyz`)).body).to.deep.include({ ready: false });
      expect(lone.logged.join("")).to.not.include(node.url);
    } finally {
      await lone.close();
      await node.stop();
    }
  });

  it("that contracts check time out if the node does not answer", async () => {
    const node = await FaultyNode.start(registry.world.node.url);
    const lone = await openTestRegistry({ SOTTO_RPC_URLS: node.url, SOTTO_RPC_TIMEOUT_MS: "3000" });
    try {
      const body = await linkBody(lone, await contractWallet(lone.world), newNumber());
      node.mode = "hangs";
      const answer = await lone.link(body);
      expect([answer.status, answer.body["code"]]).to.deep.equal([503, "CHAIN_UNAVAILABLE"]);
      expect((await lone.link(await linkBody(lone, account(), newNumber()))).status).to.equal(200);
    } finally {
      await lone.close();
      await node.stop();
    }
  });

  it("are not enough without the code, for any kind of wallet", async () => {
    const [signer, phone] = [await contractWallet(registry.world), newNumber()];
    await registry.link(await linkBody(registry, signer, phone));
    expect((await registry.resolve(phone)).body["verified"]).to.equal(false);
    const proof = proofOf(registry, signer, phone);
    expect((await registry.verify(proof)).body["verified"]).to.equal(true);
  });
});

/** EIP-2098. */
function compact(signature: string): string {
  const s = BigInt(`0x${signature.slice(66, 130)}`) | (signature.endsWith("1c") ? 1n << 255n : 0n);
  return `0x${signature.slice(2, 66)}${s.toString(16).padStart(64, "0")}`;
}
