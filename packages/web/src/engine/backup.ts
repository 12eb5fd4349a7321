// A backup: the key, and the records that the key and the chain cannot restore, encrypted with the passphrase.
import type { Store, StoreValue } from "@sotto/wallet";
import { WebError } from "../errors.ts";
import { open, parseSealed, parseSecrets, type Secrets, seal } from "./vault.ts";
import type { KnownChain } from "./vault-store.ts";

const TYPE = "sotto-web-backup";
/** Records that a scan of the chain can restore. */
const FROM_CHAIN = /^(page\/|scan\/|tree$)/;
const MAX_CHARACTERS = 64 << 20;

export interface Backup {
  readonly secrets: Secrets;
  readonly chain: KnownChain;
  readonly records: readonly { key: string; value: StoreValue }[];
}

/** @returns the text of the file */
export async function writeBackup(
  secrets: Secrets,
  chain: KnownChain,
  store: Store,
  passphrase: string,
): Promise<string> {
  const records = (await store.list(""))
    .filter(({ key }) => !FROM_CHAIN.test(key))
    .map(({ key, value }) => ({ key, value }));
  const sealed = await seal(JSON.stringify({ secrets, chain, records } satisfies Backup), passphrase);
  return `${JSON.stringify({ type: TYPE, ...sealed })}\n`;
}

/** @throws WebError BACKUP_DAMAGED, PASSPHRASE_WRONG */
export async function readBackup(text: string, passphrase: string): Promise<Backup> {
  const damaged = (cause?: unknown) =>
    new WebError("BACKUP_DAMAGED", "the file is not a backup of this app", {}, { cause });
  if (text.length > MAX_CHARACTERS) throw damaged();
  let file: Record<string, unknown>;
  try {
    file = Object(JSON.parse(text)) as Record<string, unknown>;
  } catch (cause) {
    throw damaged(cause);
  }
  if (file["type"] !== TYPE) throw damaged();
  const { secrets, chain, records } = JSON.parse(await open(parseSealed(file, "BACKUP_DAMAGED"), passphrase)) as Backup;
  // The decrypted content is authenticated, so this app wrote it.
  return { secrets: parseSecrets(JSON.stringify(secrets)), chain, records };
}
