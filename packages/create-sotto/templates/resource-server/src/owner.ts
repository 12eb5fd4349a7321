// The owner's part, from secrets that the server does not need: it makes what the server is paid at and reads with. It does nothing
// once owner.json was moved away.
import { randomUUID } from "node:crypto";
import { existsSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { signAddresses } from "@sotto/client";
import {
  addMonths,
  type DeploymentManifest,
  deriveKeys,
  formatViewingKeys,
  type Month,
  monthAddressesJson,
} from "@sotto/protocol";
import { createSeedWords, seedFromWords, viewingKeysOf } from "@sotto/wallet";
import { Wallet as Account } from "ethers";

/** The pool in which the wallet is paid. */
export type Pool = Pick<DeploymentManifest, "chainId" | "pool">;

interface Secrets {
  readonly words: string;
  readonly accountKey: string;
}

/** The owner of the wallet that earns, and of the account that signs the wallet's addresses. */
export class Owner {
  readonly #path: string;
  readonly #deployment: Pool;

  /** @param path the file with the secrets */
  constructor(path: string, deployment: Pool) {
    this.#path = path;
    this.#deployment = deployment;
  }

  isHere(): boolean {
    return existsSync(this.#path);
  }

  /** Never replaces an owner: another server may be paid at its addresses already. */
  create(): void {
    const secrets: Secrets = { words: createSeedWords(), accountKey: Account.createRandom().privateKey };
    if (writeOnce(this.#path, JSON.stringify(secrets, undefined, 2), 0o600))
      console.log(`Created ${this.#path}, which spends what this server earns:\nmove it to a safe place.`);
  }

  /** Signs an address for each of twelve months. Keeps the file if another server has just written it. */
  async writeAddresses(path: string, firstMonth: Month, now: () => number): Promise<void> {
    const { pool, keys, account } = this.read();
    const addressOfMonth = (month: Month) => keys.ofMonth(month).shieldedAddress;
    const addresses = await signAddresses({ pool, now, addressOfMonth }, account, { months: 12, firstMonth });
    writeOnce(path, JSON.stringify(monthAddressesJson(addresses), undefined, 2), 0o644);
  }

  /** The keys of the month and of the one before. */
  writeViewingKeys(path: string, month: Month): void {
    const { keys } = this.read();
    const viewingKeys = viewingKeysOf(keys, { months: [addMonths(month, -1), month] });
    // Nobody reads half of the file.
    const written = `${path}.${randomUUID()}`;
    writeFileSync(written, `${formatViewingKeys(viewingKeys, this.#deployment)}\n`, { mode: 0o600 });
    renameSync(written, path);
  }

  /** What signs for the wallet. */
  read() {
    const { words, accountKey } = JSON.parse(readFileSync(this.#path, "utf8")) as Secrets;
    const pool = { chainId: BigInt(this.#deployment.chainId), pool: this.#deployment.pool };
    return { pool, keys: deriveKeys(seedFromWords(words), pool), account: new Account(accountKey) };
  }
}

/** @returns whether this call has written the file: false if it was there */
export function writeOnce(path: string, text: string, mode: number): boolean {
  const written = `${path}.${randomUUID()}`;
  writeFileSync(written, `${text}\n`, { mode });
  try {
    // Unlike a rename, a link fails if the file is there.
    linkSync(written, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    rmSync(written);
  }
}
