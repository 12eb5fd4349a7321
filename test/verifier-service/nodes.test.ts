// The first node answers every call with an error; every endpoint works through the second node.

import { randomField } from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { FaultyNode } from "@sotto/test-kit/faulty-node";
import { call, post } from "@sotto/test-kit/http";
import { inLongRun } from "@sotto/test-kit/matrix";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { proveWithdrawal } from "@sotto/test-pool/statements";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { openService, openWorld, type World } from "@sotto/test-world/service";
import { expect } from "chai";
import { Wallet } from "ethers";
import { depositBody } from "./support/deposits.ts";

/** By default an HTTP error, a JSON-RPC error and an undecodable response; the long run adds more of the first two. */
const MODES = inLongRun<FaultyNode["mode"]>(
  ["hasNoKey", "hasPrunedItsState", "talksNonsense"],
  ["hasUsedUpItsDay", "hasAnInternalError"],
);

describe("a service with two nodes", function () {
  slow(this, "a chain, a service and proofs");
  const random = new Random("withdrawals through the second node");
  let world: World;
  let faulty: FaultyNode;
  before(async () => {
    world = await openWorld();
    faulty = await FaultyNode.start(world.node.url);
  });
  after(() => faulty.stop());

  function withdrawal() {
    const { chainId, root } = world;
    const validUntil = BigInt(Math.floor(Date.now() / 1000) + 300);
    const fields = { root, validUntil, amount: 0n, nullifiers: [randomField()], recipient: `0x${"00".repeat(20)}` };
    const proved = proveWithdrawal({ chainId: BigInt(chainId), pool: world.pool }, random, fields);
    const { signals, fee, ...rest } = proved;
    return { ...rest, signals: signals.map(String), fee: String(fee), validUntil: String(validUntil) };
  }

  for (const mode of MODES)
    it(`serves every endpoint if the first node ${mode}`, async () => {
      faulty.mode = mode;
      const control = await openService({ SOTTO_RPC_URLS: faulty.url }).then(
        (service) => service.close(),
        (error: { code?: unknown }) => error.code,
      );
      expect(control).to.equal("CHAIN_UNAVAILABLE");
      const service = closedAfterTest(await openService({ SOTTO_RPC_URLS: `${faulty.url},${world.node.url}` }));
      const { url } = service;
      const bundle = forgeBundle(world, { root: world.root });
      const verified = await post(`${url}/verify`, bundle);
      expect(verified.body["valid"]).to.equal(true);
      const settled = await post(`${url}/settle`, settleRequest(bundle, verified.body["paymentToken"]));
      expect(settled.body["status"]).to.equal("success");
      expect((await call(`${url}/settle/${settled.body["id"]}`)).body).to.deep.equal(settled.body);
      const account = Wallet.createRandom();
      await (await world.tokenContract.getFunction("mint")(account.address, 20_000n)).wait();
      const deposited = await post(`${url}/deposit`, await depositBody(world, account, {}));
      expect(deposited.body["status"]).to.equal("success");
      const withdrawn = await post(`${url}/withdraw`, withdrawal());
      expect(withdrawn.body["status"]).to.equal("success");
      expect((await call(`${url}/readyz`)).status).to.equal(200);
    });
});
