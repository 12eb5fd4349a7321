// Verifying an honest client's payments while other addresses send payments with invalid proofs over many connections.
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { forgeBundle } from "@sotto/test-world/bundles";
import { closeWorld, environment, openWorld, type World } from "@sotto/test-world/service";
import { startProcess, stopProcess } from "@sotto/test-world/service-process";

const CONNECTIONS = 400;
const FLOODING = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
const HONEST = "198.51.100.1";
/** Payments of the honest client, one after another, and the pause between them, ms. */
const [PAYMENTS, PAUSE_MS] = [300, 20];
/** Time of the flood before the first honest payment, ms. */
const LEAD_MS = 3_000;

/** @returns the text of the response */
function verify(url: string, agent: Agent, address: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "x-forwarded-for": address };
    const sent = request(`${url}/verify`, { method: "POST", agent, headers }, (response) =>
      text(response).then(resolve, reject),
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** The times of the honest client's payments, ms, from the request to the response. */
export async function measureFlood(): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), "sotto-bench-flood-"));
  const world = await openWorld();
  const service = await startProcess({
    ...environment(world, folder),
    SOTTO_LOG_LEVEL: "warn",
    SOTTO_CLIENT_QUOTA: "10000000",
    SOTTO_RATE_LIMIT: "10000000",
    SOTTO_TRUST_PROXY: "loopback",
    SOTTO_VERIFY_WORKERS: String(availableParallelism()),
  });
  try {
    return await measure(world, service.url);
  } finally {
    await stopProcess(service);
    await closeWorld();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(world: World, url: string): Promise<number[]> {
  const payment = () => forgeBundle(world, { root: world.root });
  const honest = Array.from({ length: PAYMENTS }, () => JSON.stringify(payment()));
  const invalid = FLOODING.map((address) => ({
    address,
    body: JSON.stringify({ ...payment(), proof: payment().proof }),
  }));
  const [crowd, own] = [new Agent({ keepAlive: true, maxSockets: CONNECTIONS }), new Agent({ keepAlive: true })];
  let flooding = true;
  const answers = new Map<string, number>();
  const flood = async (connection: number) => {
    const { address, body } = invalid[connection % invalid.length]!;
    while (flooding) {
      const { valid, reason, code } = JSON.parse(await verify(url, crowd, address, body));
      if (valid !== false && code === undefined) throw new Error("the service accepted an invalid proof");
      answers.set(reason ?? code, (answers.get(reason ?? code) ?? 0) + 1);
    }
  };
  const floods = Promise.all(Array.from({ length: CONNECTIONS }, (_, connection) => flood(connection)));
  try {
    await Promise.race([sleep(LEAD_MS), floods]);
    const times: number[] = [];
    for (const body of honest) {
      const start = performance.now();
      const answer = await verify(url, own, HONEST, body);
      times.push(performance.now() - start);
      if (JSON.parse(answer).valid !== true) throw new Error(`the service rejected an honest payment: ${answer}`);
      await sleep(PAUSE_MS);
    }
    process.stderr.write(`  the flood was answered ${JSON.stringify(Object.fromEntries(answers))}\n`);
    return times;
  } finally {
    flooding = false;
    await floods;
    crowd.destroy();
    own.destroy();
  }
}
