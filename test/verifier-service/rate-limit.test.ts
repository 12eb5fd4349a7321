// Two replicas, as processes with one PostgreSQL, limit a client together.
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@sotto/test-kit/eventually";
import { call } from "@sotto/test-kit/http";
import { startPostgres, type TestPostgres } from "@sotto/test-kit/postgres";
import { slow } from "@sotto/test-kit/slow";
import { temporaryFolder } from "@sotto/test-kit/temporary-folder";
import { environment, openWorld } from "@sotto/test-world/service";
import { type ServiceProcess, startProcess, stopProcess } from "@sotto/test-world/service-process";
import { expect } from "chai";

const LIMIT = 100;
const MINUTE_MS = 60_000;
/** The requests of a test need less. */
const ROOM_MS = 30_000;

describe("the rate limit of two replicas", function () {
  slow(this, "a chain, PostgreSQL and two services' processes");
  let postgres: TestPostgres;
  let replicas: ServiceProcess[];
  before(async () => {
    postgres = await startPostgres();
    const settings = {
      ...environment(await openWorld(), temporaryFolder("rate-limit")),
      SOTTO_STORE: await postgres.database(),
      SOTTO_RATE_LIMIT: String(LIMIT),
      SOTTO_TRUST_PROXY: "loopback",
    };
    replicas = await Promise.all([startProcess(settings), startProcess(settings)]);
  });
  after(async () => {
    for (const replica of replicas) await stopProcess(replica);
    await postgres.stop();
  });

  /** Waits until a window has room for a test. */
  const inOneMinute = async () => {
    const left = MINUTE_MS - (Date.now() % MINUTE_MS);
    if (left < ROOM_MS) await sleep(left + 100);
  };
  const send = async (index: number, client: string, times: number): Promise<number[]> => {
    const statuses: number[] = [];
    for (let i = 0; i < times; i++)
      statuses.push(
        (await call(`${replicas[index]!.url}/circuits`, { headers: { "x-forwarded-for": client } })).status,
      );
    return statuses;
  };
  const refused = (statuses: readonly number[]) => statuses.filter((status) => status === 429).length;

  it("is one limit for a client that uses both, and not for another client", async () => {
    await inOneMinute();
    expect(refused(await send(0, "192.0.2.7", LIMIT))).to.equal(0);
    expect(refused(await send(1, "192.0.2.7", LIMIT / 10))).to.equal(0);
    await eventually(async () => refused(await send(1, "192.0.2.7", 1)) === 1);
    expect(refused(await send(1, "192.0.2.8", LIMIT / 2))).to.equal(0);
  });

  it("is that of each replica while the database is down", async () => {
    await inOneMinute();
    await postgres.stop();
    const [first, second] = await Promise.all([send(0, "192.0.2.9", LIMIT), send(1, "192.0.2.9", LIMIT)]);
    expect([refused(first), refused(second)]).to.deep.equal([0, 0]);
    expect([refused(await send(0, "192.0.2.9", 1)), refused(await send(1, "192.0.2.9", 1))]).to.deep.equal([1, 1]);
  });
});
