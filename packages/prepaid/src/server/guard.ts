// Notices a store that was restored from a backup or lost: it forgot spent tokens, so its keys must not be used again.
//
// The store counts ticks. A file outside of it remembers its id and the ticks that it had reached. A store that is behind
// the file, or another store, was restored. The store ticks first and the file follows, so that no crash in between looks
// like a restore.

import { readFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { invalidOption } from "@sotto/resource-server";
import type { Progress } from "./progress.ts";

export class Guard {
  readonly #path: string | undefined;
  /** How far the store has come, as far as this process and its file know. */
  #known: Progress | undefined;

  /**
   * @param path undefined for a guard that only notices a restore while this process runs
   * @throws PaywallError INVALID_OPTION if the file is not a guard's
   */
  constructor(path: string | undefined) {
    this.#path = path;
    if (path !== undefined) this.#known = readGuard(path);
  }

  /** How far the store has come; undefined if that is not known yet. */
  get known(): Progress | undefined {
    return this.#known;
  }

  /**
   * Remembers how far the store has come; resolves once it is on disk. Call it only for what the store has committed, and not
   * again before it is done.
   * @throws Error of the file system
   */
  async record(progress: Progress): Promise<void> {
    if (this.#path !== undefined) await this.#write(this.#path, progress);
    // Only now: a call that failed must be repeated before anything leaves the server.
    this.#known = progress;
  }

  async #write(path: string, progress: Progress): Promise<void> {
    const temporary = `${path}.${process.pid}`;
    const file = await open(temporary, "w", 0o600);
    try {
      await file.writeFile(`${JSON.stringify({ version: 1, ...progress })}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    // The new name survives a power cut only once its folder is on disk. Windows cannot open a folder.
    if (process.platform === "win32") return;
    const folder = await open(dirname(path), "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

function readGuard(path: string): Progress | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw invalidOption(`prepaid.guard: the file ${path} cannot be read`, cause);
  }
  try {
    const { version, store, ticks } = JSON.parse(text) as Record<string, unknown>;
    if (version === 1 && typeof store === "string" && Number.isSafeInteger(ticks))
      return { store, ticks: ticks as number };
  } catch {
    // Refused below, like JSON of another shape.
  }
  throw invalidOption(`prepaid.guard: ${path} is not a guard file; it must be the one that this server wrote`);
}
