// The recipient. The first start creates a wallet and an account, and writes two files that only their owner can read:
// recipient.json receives and reads payments, which is all that the server needs; owner.json can spend the payments.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signBinding } from "@sotto/client";
import { type DeploymentManifest, deriveKeys } from "@sotto/protocol";
import type { PaywallRecipient } from "@sotto/resource-server";
import { createSeedWords, seedFromWords } from "@sotto/wallet";
import { Wallet as Account } from "ethers";

interface Owner {
  readonly words: string;
  readonly accountKey: string;
}

interface Recipient extends Omit<PaywallRecipient, "viewingKey"> {
  readonly chainId: number;
  readonly pool: string;
  readonly viewingKey: string;
}

/** Reads a file, or writes it with a new value. */
async function readOrCreate<T>(path: string, create: () => T | Promise<T>): Promise<T> {
  if (!existsSync(path)) {
    const text = JSON.stringify(await create(), undefined, 2);
    writeFileSync(path, `${text}\n`, { mode: 0o600, flag: "wx" });
  }
  return JSON.parse(readFileSync(path, "utf8")) as T;
}

export async function openRecipient(folder: string, deployment: DeploymentManifest): Promise<PaywallRecipient> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const recipient = await readOrCreate<Recipient>(join(folder, "recipient.json"), async () => {
    const create = () => ({ words: createSeedWords(), accountKey: Account.createRandom().privateKey });
    const owner = await readOrCreate<Owner>(join(folder, "owner.json"), create);
    console.log(`Created ${folder}/owner.json, which spends what this server earns:\nmove it to a safe place.`);
    return sign(owner, deployment);
  });
  const { chainId, pool, viewingKey, ...rest } = recipient;
  if (chainId === deployment.chainId && pool === deployment.pool) return { ...rest, viewingKey: BigInt(viewingKey) };
  throw new Error(
    `${folder}/recipient.json is for the pool ${pool}; delete it, and the next start signs for ${deployment.pool}`,
  );
}

/** The account signs that the shielded address is its own. Payers check this signature. */
async function sign({ words, accountKey }: Owner, deployment: DeploymentManifest): Promise<Recipient> {
  const pool = { chainId: BigInt(deployment.chainId), pool: deployment.pool };
  const keys = deriveKeys(seedFromWords(words), pool);
  const wallet = { pool, shieldedAddress: keys.shieldedAddress(), now: Date.now };
  const { binding, signature } = await signBinding(wallet, new Account(accountKey));
  return {
    chainId: deployment.chainId,
    pool: deployment.pool,
    wallet: binding.wallet,
    shieldedAddress: binding.key,
    signature,
    issuedAt: binding.issuedAt,
    viewingKey: `0x${keys.viewingKey.toString(16)}`,
  };
}
