// The folder with everything that `npm run dev` keeps: the chain, the databases, the keys and the logs.
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommandError } from "@sotto/command/command";
import { sha256, toJson, writeAtomically } from "@sotto/keys/circuits/files";
import { circuitsFolder, root } from "@sotto/keys/circuits/paths";
import type { DeploymentManifest } from "@sotto/protocol";

/** Files that --fresh does not delete. */
const KEPT = new Set(["lock", "durations.json"]);
const POOL_FILE = join(root, "artifacts", "contracts", "ShieldedPool.sol", "ShieldedPool.json");
const LOCK_FILE = join(circuitsFolder, "artifacts.lock.json");

export class State {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Opens the folder for this process. SQLite locks an empty file, so the system releases the lock when the process ends.
   * @throws CommandError DEV_RUNNING
   */
  static open(folder: string): State {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, "lock");
    closeSync(openSync(path, "a", 0o600));
    State.#lock = new DatabaseSync(path);
    try {
      State.#lock.exec("BEGIN EXCLUSIVE");
    } catch {
      throw new CommandError("DEV_RUNNING", `npm run dev already runs with the state in ${folder}; end it first`);
    }
    return new State(folder);
  }

  /** Referenced for as long as the process runs; a collected database would release the lock. */
  static #lock: DatabaseSync | undefined;

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Deletes the state of earlier runs. */
  clear(): void {
    for (const name of readdirSync(this.folder))
      if (!KEPT.has(name)) rmSync(this.path(name), { recursive: true, force: true });
  }

  /**
   * The pool that was deployed on the kept chain; undefined if there is none.
   * @throws CommandError STATE_OUTDATED if the circuits' keys have changed since
   */
  deployment(): DeploymentManifest | undefined {
    const path = this.path("deployment.json");
    if (!existsSync(path)) return undefined;
    if (readFileSync(this.path("keys.sha256"), "utf8") !== keysHash())
      throw new CommandError("STATE_OUTDATED", "the circuits have changed since the pool was deployed; add --fresh");
    return JSON.parse(readFileSync(path, "utf8")) as DeploymentManifest;
  }

  /** Whether a pool deployed now would have different code. */
  hasOtherContracts(): boolean {
    return readFileSync(this.path("contracts.sha256"), "utf8") !== contractsHash();
  }

  keepDeployment(manifest: DeploymentManifest): void {
    writeAtomically(this.path("contracts.sha256"), contractsHash());
    writeAtomically(this.path("keys.sha256"), keysHash());
    writeAtomically(this.path("deployment.json"), toJson(manifest));
  }
}

const contractsHash = (): string => sha256(readFileSync(POOL_FILE));

/** Identifies the verification keys that a pool deployed now would have. */
const keysHash = (): string => sha256(readFileSync(LOCK_FILE));
