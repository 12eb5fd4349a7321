// A node that is behind, empty or pruned must not decide that a payment or deposit is refused.

import { type LocalNode, startNode } from "@sotto/local/chain/node";
import { randomField } from "@sotto/protocol";
import { eventually } from "@sotto/test-kit/eventually";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { type Answer, call, post } from "@sotto/test-kit/http";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { proveWithdrawal } from "@sotto/test-pool/statements";
import { forgeBundle } from "@sotto/test-world/bundles";
import { ownersWallet, type SmartAccount } from "@sotto/test-world/contract-wallets";
import { openService, openWorld, type TestService, type World } from "@sotto/test-world/service";
import { depositWithAuthorizationCall } from "@sotto/wallet";
import { expect } from "chai";
import { Signature, Wallet } from "ethers";
import { depositBody, signedBody } from "./support/deposits.ts";

const DEPOSIT = 20_000n;

type Kind = "behind" | "empty" | "empty, with more blocks" | "pruned";

describe("a service whose first node is bad", function () {
  slow(this, "a chain, services and proofs");
  const random = new Random("withdrawals through a node that is behind");
  let world: World;
  let first: FaultyNode;
  let empty: LocalNode;
  let service: TestService;
  before(async () => {
    world = await openWorld();
    empty = await startNode();
  });
  after(() => empty.stop());
  beforeEach(async () => {
    first = await FaultyNode.start(world.node.url);
  });
  afterEach(async () => {
    await service.close();
    await first.stop();
  });

  const height = () => world.provider.getBlockNumber();

  /** Starts a service whose first node is good, and makes it bad once the service has read the chain. */
  async function open(kind: Kind, urls: readonly string[] = [first.url, world.node.url]): Promise<void> {
    service = await openService({ SOTTO_RPC_URLS: urls.join() });
    const number = await height();
    await eventually(async () => {
      const { body } = await call(`${service.url}/readyz`);
      return body["ready"] === true && (await headOf(service)) >= number;
    });
    if (kind === "pruned") first.mode = "hasOnlyNewState";
    if (kind === "behind") {
      // It has the pool, but none of its roots.
      first.lag = number - world.deploymentBlock;
      first.mode = "isBehind";
    }
    if (kind.startsWith("empty")) first.target = empty.url;
    if (kind === "empty, with more blocks")
      await post(empty.url, {
        jsonrpc: "2.0",
        id: 1,
        method: "hardhat_mine",
        params: [`0x${(2 * number).toString(16)}`],
      });
  }
  const headOf = async ({ origin }: TestService) =>
    Number((await (await fetch(`${origin}/metrics`)).text()).match(/^sotto_relayer_head_block (\d+)/m)?.[1] ?? 0);

  const verify = (fields: Partial<Parameters<typeof forgeBundle>[1]> = {}) =>
    post(`${service.url}/verify`, forgeBundle(world, { root: world.root, ...fields }));
  const deposit = async (account = Wallet.createRandom()) =>
    post(`${service.url}/deposit`, await depositBody(world, account, {}));
  const mint = async (address: string) => (await world.tokenContract.getFunction("mint")(address, DEPOSIT)).wait();
  const smartAccount = async (): Promise<SmartAccount> => {
    const account = await ownersWallet(world);
    await mint(account.from);
    return account;
  };
  const depositOf = async (account: SmartAccount) => post(`${service.url}/deposit`, await signedBody(world, account));
  const withdraw = (root: bigint) => {
    const validUntil = BigInt(Math.floor(Date.now() / 1000) + 300);
    const fields = { root, validUntil, amount: 0n, nullifiers: [randomField()], recipient: `0x${"00".repeat(20)}` };
    const proved = proveWithdrawal({ chainId: BigInt(world.chainId), pool: world.pool }, random, fields);
    const { signals, fee, ...rest } = proved;
    const body = { ...rest, signals: signals.map(String), fee: String(fee), validUntil: String(validUntil) };
    return post(`${service.url}/withdraw`, body);
  };
  const refusal = ({ status, body }: Answer) => [status, body["reason"] ?? body["code"]];

  for (const kind of ["behind", "empty", "pruned"] as const) {
    it(`answers every request through the second node if the first one is ${kind}`, async () => {
      const bundle = forgeBundle(world, { root: world.root });
      await open(kind);
      // The root is the pool's and the note is unspent. The requests come before the relayer finds out about the first node.
      expect((await post(`${service.url}/verify`, bundle)).body).to.include({ valid: true });
      expect((await withdraw(world.root)).body).to.include({ status: "success" });
      // Tokens that arrived after the block of the first node.
      const account = Wallet.createRandom();
      await mint(account.address);
      expect((await deposit(account)).body).to.include({ status: "success" });
      // A contract account that was deployed after it.
      expect((await depositOf(await smartAccount())).body).to.include({ status: "success" });
      // An authorization that another sender used.
      const used = Wallet.createRandom();
      await mint(used.address);
      const body = await depositBody(world, used, {});
      const call = depositWithAuthorizationCall({ ...body, signature: Signature.from(body).serialized });
      const { hash } = await world.send(call);
      expect((await post(`${service.url}/deposit`, body)).body).to.include({ status: "success", txSignature: hash });
    });

    it(`still refuses what is wrong, if the first one is ${kind}`, async () => {
      await open(kind);
      expect(refusal(await verify({ root: randomField() }))).to.deep.equal([200, "UNKNOWN_ROOT"]);
      expect(refusal(await withdraw(randomField()))).to.deep.equal([422, "UNKNOWN_ROOT"]);
      expect(refusal(await deposit())).to.deep.equal([422, "INSUFFICIENT_TOKENS"]);
      const strange = { ...(await smartAccount()), depositor: Wallet.createRandom() };
      expect(refusal(await depositOf(strange))).to.deep.equal([422, "AUTHORIZATION_MISMATCH"]);
    });
  }

  for (const kind of ["behind", "empty", "empty, with more blocks"] as const)
    it(`answers 503 and refuses nothing if its only node is ${kind}`, async () => {
      const smart = await smartAccount();
      await open(kind, [first.url]);
      const unknown = [503, "CHAIN_UNAVAILABLE"];
      expect(refusal(await verify())).to.deep.equal(unknown);
      expect(refusal(await verify({ root: randomField() }))).to.deep.equal(unknown);
      expect(refusal(await withdraw(randomField()))).to.deep.equal(unknown);
      const account = Wallet.createRandom();
      await mint(account.address);
      expect(refusal(await deposit(account))).to.deep.equal(unknown);
      expect(refusal(await depositOf(smart))).to.deep.equal(unknown);
      // Control: it has caught up.
      [first.mode, first.target] = ["honest", world.node.url];
      expect((await verify()).body).to.include({ valid: true });
      expect((await deposit(account)).body).to.include({ status: "success" });
      expect((await depositOf(smart)).body).to.include({ status: "success" });
    });

  it("refuses and accepts as usual if its only node has pruned all but the newest state", async () => {
    await open("pruned", [first.url]);
    expect((await verify()).body).to.include({ valid: true });
    expect(refusal(await verify({ root: randomField() }))).to.deep.equal([200, "UNKNOWN_ROOT"]);
    expect(refusal(await deposit())).to.deep.equal([422, "INSUFFICIENT_TOKENS"]);
  });
});
