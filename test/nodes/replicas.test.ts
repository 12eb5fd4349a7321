// Two replicas of the service on one PostgreSQL and Anvil, killed at random while payments are made.

import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@sotto/test-kit/eventually";
import { startPostgres, type TestPostgres } from "@sotto/test-kit/postgres";
import { Random } from "@sotto/test-kit/random";
import { slow } from "@sotto/test-kit/slow";
import { startDeployedAnvil } from "@sotto/test-world/anvil";
import { createWorld } from "@sotto/test-world/wallets";
import { WalletError } from "@sotto/wallet";
import { Books } from "./support/audit.ts";
import { Replicas } from "./support/replicas.ts";

const LONG = process.env["SOTTO_LONG"] === "1";
/** How often a replica is killed, and the maximum time in between, ms. */
const [KILLS, BETWEEN_MS] = LONG ? [40, 8_000] : [3, 2_000];
/** How many payments are under way at once, each from its own note. */
const LANES = 4;
const AMOUNT = 10_000n;

describe("two replicas on PostgreSQL and Anvil", function () {
  slow(this, "a deployment, a database and processes of the service");
  const random = new Random(`replicas ${Date.now()}`);
  let postgres: TestPostgres;
  let replicas: Replicas;
  let books: Books;
  before(async () => {
    postgres = await startPostgres();
    const settings = { SOTTO_STORE: await postgres.database() };
    const world = await createWorld(await startDeployedAnvil(), settings, async (environment) => {
      replicas = await Replicas.start(environment, 2, random);
      return { url: replicas.url, close: () => replicas.stop() };
    });
    books = await Books.open(world, replicas);
  });
  after(async () => {
    await replicas?.stop();
    await postgres?.stop();
  });

  it("settle each payment once while one after the other is killed with SIGKILL", async () => {
    await books.deposit(...Array.from({ length: LANES * 2 }, () => 1_000_000n));
    let killing = true;
    // The change of a payment can be spent once the leader has appended it.
    const ready = () =>
      books.verified(AMOUNT).catch((error: unknown) => {
        if (error instanceof WalletError && error.code === "FUNDS_NOT_READY") return undefined;
        throw error;
      });
    const lane = async () => {
      while (killing) await (await eventually(ready)).settle();
    };
    const lanes = Promise.all(Array.from({ length: LANES }, lane));
    const kills = async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await sleep(random.below(BETWEEN_MS));
        await replicas.kill();
      }
    };
    await Promise.all([kills().finally(() => (killing = false)), lanes]);
    const withdrawing = books.withdraw(AMOUNT * 2n);
    await replicas.kill();
    await withdrawing;
    await books.audit();
  });
});
