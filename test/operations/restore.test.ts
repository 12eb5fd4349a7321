// A database that is restored from a copy, as docs/operations-backup.md describes it, and what the service answers about payments
// that the copy lacks.
import { paymentSignals } from "@sotto/protocol";
import { closedAfterTest } from "@sotto/test-kit/closed-after";
import { eventually } from "@sotto/test-kit/eventually";
import { call, claimsOf, post } from "@sotto/test-kit/http";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { environment, openWorld, type World } from "@sotto/test-world/service";
import { type ServiceProcess, startProcess, stopProcess } from "@sotto/test-world/service-process";
import { expect } from "chai";
import { settlementsOf } from "./support/settlements.ts";
import { BACKED_UP, type BackedUp } from "./support/stores.ts";

type Payment = Awaited<ReturnType<typeof verified>>;

/** A payment that the service has verified. */
async function verified(world: World, { url }: ServiceProcess) {
  const bundle = forgeBundle(world, { root: world.root });
  const { body } = await post(`${url}/verify`, bundle);
  return {
    bundle,
    request: settleRequest(bundle, body["paymentToken"]),
    id: String(claimsOf(body["paymentToken"])["jti"]),
  };
}

for (const [name, open] of Object.entries(BACKED_UP))
  describe(`a database that is restored, ${name}`, function () {
    slow(this, "a chain, a database and processes of the service");
    let world: World;
    let settings: Record<string, string>;
    let database: BackedUp;
    let running: ServiceProcess;
    before(async () => {
      world = await openWorld();
    });
    beforeEach(async () => {
      database = await open();
      closedAfterTest({ close: () => database.stop() });
      settings = { ...environment(world, temporaryFolder("restore")), SOTTO_STORE: database.store };
      running = await startProcess({ ...settings, SOTTO_LOG_LEVEL: "info" });
      closedAfterTest({ close: () => stopProcess(running) });
    });

    const settlements = async ({ bundle }: Payment) =>
      settlementsOf(world, paymentSignals(bundle.publicSignals).nullifier);
    const settle = async ({ request }: Payment) => post(`${running.url}/settle`, request);
    const status = async ({ id }: Payment) => call(`${running.url}/settle/${id}`);
    const verifyAgain = async ({ bundle }: Payment) => (await post(`${running.url}/verify`, bundle)).body;
    /** Kills the service, and starts it again on the store that `store` returns. */
    const restartOn = async (store = async () => database.store) => {
      running.child.kill("SIGKILL");
      await running.ended;
      running = await startProcess({ ...settings, SOTTO_STORE: await store() });
    };
    const failWith = async (answer: ReturnType<typeof call>, code: string) => {
      const { status, body } = await answer;
      expect([status, body["code"]]).to.deep.equal([code === "UNKNOWN_PAYMENT" ? 404 : 409, code]);
    };

    it("answers about payments as the page says, and settles none of them twice", async () => {
      const settled = await verified(world, running);
      const before = await settle(settled);
      expect(before.body["status"], JSON.stringify(before.body)).to.equal("success");
      const promised = await verified(world, running);
      if (!database.whileRunning) await stopProcess(running);
      await database.backUp();
      if (!database.whileRunning) running = await startProcess(settings);
      const hashes = new Map<Payment, unknown>([[settled, before.body["txSignature"]]]);
      const later = await verified(world, running);
      for (const payment of [promised, later]) hashes.set(payment, (await settle(payment)).body["txSignature"]);
      const unsettled = await verified(world, running);

      await restartOn(database.restore);
      for (const answer of [await status(settled), await settle(settled)])
        expect(answer.body).to.deep.equal(before.body);
      await failWith(status(promised), "UNKNOWN_PAYMENT");
      const again = await settle(promised);
      expect(again.body).to.include({ status: "success", txSignature: hashes.get(promised) });
      expect((await status(promised)).body).to.deep.equal(again.body);
      await failWith(status(later), "UNKNOWN_PAYMENT");
      await failWith(settle(later), "TOKEN_REPLACED");
      for (const payment of [settled, promised, later]) {
        expect(await verifyAgain(payment)).to.include({ valid: false, reason: "NULLIFIER_SPENT" });
        expect(await settlements(payment)).to.deep.equal([hashes.get(payment)]);
      }
      await failWith(status(unsettled), "UNKNOWN_PAYMENT");
      await failWith(settle(unsettled), "TOKEN_REPLACED");
      expect(await verifyAgain(unsettled)).to.include({ valid: true });
      expect(await settlements(unsettled)).to.deep.equal([]);
      const next = await verified(world, running);
      expect((await settle(next)).body["status"]).to.equal("success");
    });

    it("shows a payment that was broadcast when the copy was made as settled, by the transaction that settled it", async () => {
      await stopProcess(running);
      running = await startProcess(
        { ...settings, SOTTO_LOG_LEVEL: "info" },
        undefined,
        /"kind":"settle".*"transaction stored"/,
      );
      const payment = await verified(world, running);
      await settle(payment).catch(() => undefined);
      expect(await running.ended).to.equal("SIGKILL");
      await database.backUp();
      await restartOn();
      const { txSignature } = (await settle(payment)).body;
      await restartOn(database.restore);
      const found = await eventually(async () => {
        const { body } = await status(payment);
        return body["status"] !== "pending" && body;
      });
      expect(found).to.include({ status: "success", txSignature });
      expect(await settlements(payment)).to.deep.equal([txSignature]);
    });
  });
