import { bindingOfInstructions, checkBindingSignature, checkBindingTime, SottoError } from "@sotto/protocol";
import { WalletError } from "../errors.ts";
import { hashText } from "../purchase/hash.ts";
import type { Store, StoredRecord } from "../store/store.ts";
import type { Wallet } from "../wallet/wallet.ts";
import type { Challenge } from "./challenge.ts";
import { FetchError } from "./errors.ts";

/** A host that was paid before asks to be paid under another wallet. */
export interface RecipientChange {
  host: string;
  /** Wallet that was paid there so far. */
  known: string;
  /** Wallet that is to be paid from now on. */
  offered: string;
}

export type ConfirmRecipient = (change: RecipientChange) => boolean | Promise<boolean>;

/**
 * A wallet address alone proves nothing: whoever runs the server (or broke into it) can put a key of its own beside the
 * merchant's wallet. The wallet must have signed the address that is paid, for this chain and pool.
 * @throws FetchError RECIPIENT_NOT_SIGNED
 */
export async function checkRecipient({ instructions }: Challenge, wallet: Wallet): Promise<void> {
  const { signature } = instructions.payment.recipient;
  const refused = (message: string, cause?: unknown) => new FetchError("RECIPIENT_NOT_SIGNED", message, {}, { cause });
  try {
    const binding = bindingOfInstructions(instructions);
    checkBindingTime(binding, wallet.now());
    if (await checkBindingSignature(binding, signature, (call) => wallet.chain.call(call))) return;
  } catch (cause) {
    // A node that does not answer is not the recipient's fault.
    if (!(cause instanceof SottoError) || cause.code === "BINDING_UNCHECKED") throw cause;
    throw refused(`the recipient's signature cannot be taken: ${cause.message}`, cause);
  }
  throw refused("the recipient's wallet did not sign the address that is to be paid");
}

const pinKey = (host: string): string => `pin/host/${hashText(host)}`;

/** How often a pin is read again where another payment pinned the host meanwhile. */
const TRIES = 10;

/** The wallet a host was paid under. @throws WalletError STORE_DAMAGED: taken for none, anybody could be paid next */
function readPin(record: StoredRecord | undefined, host: string): string | undefined {
  if (record === undefined) return undefined;
  const { wallet } = Object(record.value) as Record<string, unknown>;
  if (typeof wallet === "string") return wallet;
  throw new WalletError("STORE_DAMAGED", `the store's record of the wallet of ${host} cannot be read`);
}

/**
 * A host is paid under the wallet it was paid under first. Another wallet may be another owner, or a thief: somebody has
 * to say that it is right. Of two payments that pin at once, one writes and the other compares.
 * @throws FetchError RECIPIENT_CHANGED
 */
export async function checkPin(
  store: Store,
  host: string,
  offered: string,
  confirm: ConfirmRecipient | undefined,
): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const record = await store.get(pinKey(host));
    const known = readPin(record, host);
    if (known === offered) return;
    if (known !== undefined && (await confirm?.({ host, known, offered })) !== true)
      throw new FetchError("RECIPIENT_CHANGED", `${host} was paid under another wallet before`, {
        host,
        known,
        offered,
      });
    try {
      return await store.put(pinKey(host), { host, wallet: offered }, record?.version ?? 0);
    } catch (error) {
      if (!(error instanceof WalletError) || error.code !== "STORE_CONFLICT" || tries >= TRIES) throw error;
    }
  }
}
