// A chain, a service and wallets whose time a test moves from month to month.

import { startDeployedNode } from "@sotto/local/chain/node";
import { type Month, monthStart, parseMonth } from "@sotto/protocol";
import { EXTENSIONS } from "@sotto/service";
import { forgingProver } from "@sotto/test-pool/append";
import { createWorld, openWallet, type PayerOptions, type World } from "@sotto/test-world/wallets";
import { createLog, readConfig, startService } from "@sotto/verifier-service";
import type { Wallet } from "@sotto/wallet";

const HOUR_MS = 3_600_000;

/** Months of the next year, because a chain's time never goes back. */
const month = (number: string): Month => parseMonth(`${new Date().getUTCFullYear() + 1}-${number}`);
export const [FEBRUARY, MARCH, APRIL, MAY] = [month("02"), month("03"), month("04"), month("05")];
/** Noon of the tenth day, far from both ends. */
export const middleOf = (one: Month): number => monthStart(one) + 9 * 24 * HOUR_MS + 12 * HOUR_MS;

/** The shared time of the chain, the service and all wallets. */
export class Time {
  #ahead = 0;
  readonly now = (): number => Date.now() + this.#ahead;

  constructor(start: number) {
    this.set(start);
  }

  set(ms: number): void {
    this.#ahead = ms - Date.now();
  }
}

export interface MonthWorld extends World {
  readonly time: Time;
  /** Moves the time of the chain and of every clock. It never goes back. */
  travel(ms: number): Promise<void>;
  /** Opens a wallet with the world's clock. */
  wallet(options?: PayerOptions): Promise<Wallet>;
}

/** Opens a world that begins in the middle of a month. */
export async function openMonthWorld(start: Month): Promise<MonthWorld> {
  const time = new Time(middleOf(start));
  const node = await startDeployedNode();
  const move = async (world: Pick<World, "provider">, ms: number) => {
    time.set(ms);
    await world.provider.send("evm_setNextBlockTimestamp", [Math.floor(ms / 1000)]);
    await world.provider.send("evm_mine", []);
  };
  const settings = { SOTTO_APPEND_AFTER_MS: "0" };
  const world = await createWorld(node, settings, async (environment) => {
    const log = createLog("silent");
    const { url, close } = await startService(readConfig(environment, EXTENSIONS), log, {
      clock: time.now,
      prover: forgingProver,
    });
    return { url, close };
  });
  const months: MonthWorld = {
    ...world,
    time,
    travel: (ms) => move(world, ms),
    wallet: (options) => openWallet(world, { clock: time.now, ...options }),
  };
  await move(world, middleOf(start));
  return months;
}
