import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder of one wallet, with its config, key and store. */
export class Home {
  /** Absolute path. */
  readonly folder: string;

  constructor(folder: string) {
    this.folder = resolve(folder);
  }

  /** Path of a file in the folder. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** Chain, pool, service and limits. */
  get config(): string {
    return this.path("config.json");
  }

  /** The seed words. */
  get key(): string {
    return this.path("seed");
  }

  /** The wallet's store. It shows what was received and paid, but has no key. */
  get store(): string {
    return this.path("wallet.sqlite");
  }

  /** The lock file that `openWallet` uses for the store. */
  get lock(): string {
    return `${this.store}.lock`;
  }

  /** The record of the schedule and keys that this wallet issued to its resource servers. */
  get months(): string {
    return this.path("months.json");
  }

  /** Creates the folder, which only its owner can enter. */
  make(): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
  }
}
