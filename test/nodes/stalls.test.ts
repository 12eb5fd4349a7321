// Chains whose blocks are far apart, or that make none for a while.

import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@sotto/test-kit/eventually";
import { call, post } from "@sotto/test-kit/http";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { startDeployedAnvil } from "@sotto/test-world/anvil";
import { createWorld } from "@sotto/test-world/wallets";
import { expect } from "chai";
import { Books } from "./support/audit.ts";

describe("a service on Anvil, with two confirmations,", function () {
  slow(this, "a deployment, a service and wallets");

  // The test below has two confirmations, too, with a block every second.
  for (const seconds of inLongRun<number>([], [12]))
    it(`takes deposits, settles payments and pays withdrawals with a block every ${seconds} s`, async () => {
      const settings = { SOTTO_CONFIRMATIONS: "2", SOTTO_BLOCK_TIME_MS: String(seconds * 1000) };
      const world = await createWorld(await startDeployedAnvil(), settings);
      const books = await Books.open(world);
      await world.provider.send("evm_setAutomine", [false]);
      await world.provider.send("evm_setIntervalMining", [seconds]);
      await books.deposit(1_000_000n, 1_000_000n);
      const verified = [await books.verified(300_000n), await books.verified(400_000n)];
      await Promise.all(verified.map(({ settle }) => settle()));
      await books.withdraw(500_000n);
      await books.audit();
    });
});

describe("a service on Anvil, while no block is mined,", function () {
  slow(this, "a deployment, a service and wallets");

  /** Seconds without a block, and how old the newest block may be before the service refuses payments. */
  for (const [seconds, maxAge] of inLongRun([[8, 4]] as const, [[120, 60]] as const))
    it(`refuses new payments, and loses none in ${seconds} s`, async () => {
      const settings = {
        SOTTO_CONFIRMATIONS: "2",
        SOTTO_MAX_HEAD_AGE_MS: String(maxAge * 1000),
        SOTTO_SETTLE_WAIT_MS: "1000",
      };
      const world = await createWorld(await startDeployedAnvil(), settings);
      const books = await Books.open(world);
      const rpc = (method: string, ...params: unknown[]) => world.provider.send(method, params);
      const health = async (path: string) => {
        const { status, body } = await call(`${world.serviceUrl}/${path}`);
        return [status, body["cause"]];
      };
      await books.deposit(1_000_000n, 1_000_000n);
      await rpc("evm_setAutomine", false);
      await rpc("evm_setIntervalMining", 1);
      await eventually(async () => (await health("readyz"))[0] === 200);
      const early = await books.verified(300_000n);

      await rpc("evm_setIntervalMining", 0);
      const stopped = await world.provider.getBlockNumber();
      const settled = early.settle();
      const sent = async () => {
        // Until the request has arrived, the service does not know the payment.
        const told = await early.outcome().catch(() => undefined);
        return told !== undefined && told.status !== "failed" && told.txSignature !== "0x" && told.txSignature;
      };
      await eventually(sent);
      await sleep(seconds * 1000);
      expect(await early.outcome()).to.include({ status: "pending" });
      // A payment is verified within a minute of its making.
      const late = await books.prepared(400_000n);
      const refused = await post(`${world.serviceUrl}/verify`, late.bundle);
      expect([refused.status, refused.body["code"]]).to.deep.equal([503, "HEAD_TOO_OLD"]);
      expect(refused.headers.get("retry-after")).to.match(/^[1-9]\d*$/);
      expect(await health("readyz")).to.deep.equal([503, "head"]);
      expect(await health("healthz")).to.deep.equal([200, undefined]);
      expect(await world.provider.getBlockNumber()).to.equal(stopped);

      await rpc("evm_setIntervalMining", 1);
      expect(await settled).to.equal(await sent());
      await eventually(async () => (await health("readyz"))[0] === 200);
      await (await books.verify(late)).settle();
      await books.withdraw(500_000n);
      await books.audit();
    });
});
