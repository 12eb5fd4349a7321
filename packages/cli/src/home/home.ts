import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder of one wallet: config, key and store stand side by side. */
export class Home {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = resolve(folder);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  get config(): string {
    return this.path("config.json");
  }

  /** The seed words. */
  get key(): string {
    return this.path("seed");
  }

  /** The wallet's store: shows what was received and paid, spends nothing. */
  get store(): string {
    return this.path("wallet.sqlite");
  }

  get lock(): string {
    return this.path("lock.sqlite");
  }

  /** Where artifacts are kept that the service gave. */
  get artifacts(): string {
    return this.path("artifacts");
  }

  /** Makes the folder, for its owner alone. */
  make(): void {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
  }
}
