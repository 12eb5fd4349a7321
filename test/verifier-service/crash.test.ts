// Kills the service's process with SIGKILL at every logged step of a payment, and repeats the request after a restart.

import { paymentSignals, shieldedPoolAbi } from "@sotto/protocol";
import { call, claimsOf, post } from "@sotto/test-kit/http";
import { inLongRun } from "@sotto/test-kit/matrix";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { forgeBundle, settleRequest } from "@sotto/test-world/bundles";
import { environment, openWorld, type World } from "@sotto/test-world/service";
import { type ServiceProcess, startProcess, stopProcess } from "@sotto/test-world/service-process";
import { expect } from "chai";
import { Interface } from "ethers";

/** The log line of each step, for the payment and not for an append. */
const STEPS = inLongRun<[step: string, log: RegExp]>(
  [
    ["transaction stored", /"kind":"settle".*"transaction stored"/],
    ["payment settled", /"payment settled"/],
  ],
  [["transaction mined", /"kind":"settle",.*"hash":"(0x\w+)"(?:.|\n)*"hash":"\1".*"transaction mined"/]],
);
const pool = new Interface(shieldedPoolAbi);

async function settlements({ provider, pool: address, deploymentBlock }: World, nullifier: string): Promise<string[]> {
  const topics = pool.encodeFilterTopics("Settled", [nullifier]);
  const logs = await provider.getLogs({ address, topics, fromBlock: deploymentBlock });
  return logs.map(({ transactionHash }) => transactionHash);
}

describe("kill -9 of the service", function () {
  slow(this, "a chain, a service and proofs");
  let world: World;
  let folder: string;
  let running: ServiceProcess | undefined;
  before(async () => {
    world = await openWorld();
  });
  beforeEach(() => {
    folder = temporaryFolder("crash");
  });
  afterEach(async () => {
    if (running) await stopProcess(running);
    running = undefined;
  });

  for (const [step, log] of STEPS)
    it(`at "${step}": the next process settles it once, and always gives the same response`, async () => {
      // Restarted with the same files, it is the same service to its clients.
      const settings = { ...environment(world, folder), SOTTO_LOG_LEVEL: "info" };
      const first = await startProcess(settings, () => undefined, log);
      running = first;
      const bundle = forgeBundle(world, { root: world.root });
      const { body } = await post(`${first.url}/verify`, bundle);
      const request = settleRequest(bundle, body["paymentToken"]);
      const cut = await post(`${first.url}/settle`, request).catch(() => "no answer");
      expect(await first.ended).to.equal("SIGKILL");
      if (step === "transaction stored") expect(cut).to.equal("no answer");

      running = await startProcess(settings);
      const answer = await post(`${running.url}/settle`, request);
      expect(answer.body["status"], JSON.stringify(answer.body)).to.equal("success");
      const { txSignature } = answer.body;
      expect(await settlements(world, paymentSignals(bundle.publicSignals).nullifier)).to.deep.equal([txSignature]);
      expect((await post(`${running.url}/settle`, request)).body).to.deep.equal(answer.body);
      const id = claimsOf(body["paymentToken"])["jti"];
      expect((await call(`${running.url}/settle/${String(id)}`)).body).to.deep.equal(answer.body);
    });
});
