// Relayers in processes of their own, for tests that kill, stop and resume them.
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { RELAYER_KEY, type TestChain } from "@sotto/test-world/relayer/chain";
import type { ChildOptions } from "./child.ts";

/** The default key is RELAYER_KEY. */
type ForkOptions = Pick<ChildOptions, "storeUrl" | "config" | "fault"> & Partial<Pick<ChildOptions, "keys">>;

export class Children {
  readonly #chain: TestChain;
  readonly #running: ChildProcess[] = [];

  constructor(chain: TestChain) {
    this.#chain = chain;
  }

  fork({ storeUrl, config, fault, keys = [RELAYER_KEY] }: ForkOptions): ChildProcess {
    const { pool, token, deploymentBlock } = this.#chain.deployment;
    const options: ChildOptions = {
      storeUrl,
      config,
      keys,
      url: this.#chain.node.url,
      pool: { pool, token, deploymentBlock },
      fault,
    };
    const child = fork(join(import.meta.dirname, "child.ts"), [JSON.stringify(options)], { stdio: "inherit" });
    this.#running.push(child);
    return child;
  }

  /** Forks a relayer and waits until it is the leader. */
  async start(options: ForkOptions): Promise<ChildProcess> {
    const child = this.fork(options);
    await new Promise((resolve) => child.once("message", resolve));
    return child;
  }

  stopAll(): void {
    for (const child of this.#running.splice(0)) child.kill("SIGKILL");
  }
}

/** @returns the signal that ended it */
export function ended(child: ChildProcess): Promise<NodeJS.Signals | null> {
  return new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
}
