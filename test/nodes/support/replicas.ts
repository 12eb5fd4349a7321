// Replicas of the service as processes that are killed and started again, and a client that uses any of them.

import { setTimeout as sleep } from "node:timers/promises";
import { WAIT } from "@sotto/test-kit/eventually";
import type { Random } from "@sotto/test-kit/random";
import { type ServiceProcess, startProcess, stopProcess } from "@sotto/test-world/service-process";
import { ServiceClientError, SottoService } from "@sotto/wallet";
import type { Service } from "./audit.ts";

/** What a client gets from a replica that is killed, or whose leader was. It asks another one. */
const PASSING = ["SERVICE_UNREACHABLE", "SERVICE_TIMEOUT", "SERVICE_REFUSED", "SETTLEMENT_PENDING"];
const PAUSE_MS = 50;

export class Replicas implements Service {
  readonly #environment: Record<string, string>;
  readonly #random: Random;
  readonly #running: (ServiceProcess | undefined)[];

  private constructor(environment: Record<string, string>, random: Random, running: ServiceProcess[]) {
    this.#environment = environment;
    this.#random = random;
    this.#running = running;
  }

  /** @param environment all settings of each of them */
  static async start(environment: Record<string, string>, count: number, random: Random): Promise<Replicas> {
    const running: ServiceProcess[] = [];
    for (let replica = 0; replica < count; replica += 1) running.push(await startProcess(environment));
    return new Replicas(environment, random, running);
  }

  /** Kills one with SIGKILL, and starts it again with the same settings. */
  async kill(): Promise<void> {
    const replica = this.#random.below(this.#running.length);
    const killed = this.#running[replica]!;
    this.#running[replica] = undefined;
    killed.child.kill("SIGKILL");
    await killed.ended;
    this.#running[replica] = await startProcess(this.#environment);
  }

  /** URL of the first one. */
  get url(): string {
    return this.#running[0]!.url;
  }

  async stop(): Promise<void> {
    for (const running of this.#running) if (running !== undefined) await stopProcess(running);
  }

  readonly verify: Service["verify"] = (bundle) => this.#ask((service) => service.verify(bundle));
  readonly settle: Service["settle"] = (bundle, token) => this.#ask((service) => service.settle(bundle, token));
  readonly status: Service["status"] = (id) => this.#ask((service) => service.status(id));
  readonly withdraw: Service["withdraw"] = (call) => this.#ask((service) => service.withdraw(call));

  /** Asks one of them, and another one if that is killed. */
  async #ask<T>(question: (service: SottoService) => Promise<T>): Promise<T> {
    for (const end = Date.now() + WAIT; ; await sleep(PAUSE_MS)) {
      const running = this.#running[this.#random.below(this.#running.length)];
      if (running === undefined) continue;
      try {
        return await question(new SottoService(running.url));
      } catch (error) {
        const passes = error instanceof ServiceClientError && PASSING.includes(error.code);
        if (!passes || Date.now() > end) throw error;
      }
    }
  }
}
