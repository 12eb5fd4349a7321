// The setting SOTTO_ORIGINS: the sets whose heads a service mirrors, and the payments that must show them.
import { type Address, decodeShieldedAddress, parseAddress } from "@sotto/protocol";
import type { Parse } from "@sotto/server";
import { type AskedSet, parseAskedSets, withDefaults } from "../core/asked.ts";
import { parseJson } from "../core/json.ts";

/** A set whose heads a service mirrors. */
export interface ServiceSet extends AskedSet {
  /** The recipients whose payments must show the set; undefined for all recipients. An empty list only mirrors the heads. */
  readonly recipients: readonly RequiredRecipient[] | undefined;
}

/** A recipient whose payments must show a set. */
export type RequiredRecipient =
  /** As the payer names it: the recipient's server refuses a payment that names another wallet. */
  | { readonly wallet: Address }
  /** The owner tag of its shielded addresses, the same in all months. */
  | { readonly ownerTag: bigint };

/** Parses the setting: JSON, a list of sets. */
export const parseServiceSets: Parse<readonly ServiceSet[]> = (text) => {
  if (text === "") return [];
  try {
    const list = parseJson(text);
    if (!Array.isArray(list)) throw new Error("it is no list");
    if (list.length === 0) return [];
    const sets = parseAskedSets(list.map(withDefaults));
    return sets.map((set, i) => ({
      ...set,
      recipients: parseRecipients((list[i] as { recipients?: unknown }).recipients),
    }));
  } catch (cause) {
    throw new Error(`must be a JSON list of sets: ${(cause as Error).message}`);
  }
};

function parseRecipients(value: unknown): readonly RequiredRecipient[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string"))
    throw new Error("recipients must be a list of wallets and shielded addresses");
  return value.map((text: string) =>
    text.length === 42
      ? { wallet: parseAddress(text, "recipients") }
      : { ownerTag: decodeShieldedAddress(text).ownerTag },
  );
}

/** Whether payments to this recipient must show a set. */
export const isRequired = (
  { recipients }: Pick<ServiceSet, "recipients">,
  paid: { readonly wallet: string; readonly ownerTag: bigint },
): boolean =>
  recipients?.some((one) =>
    "wallet" in one ? one.wallet === paid.wallet.toLowerCase() : one.ownerTag === paid.ownerTag,
  ) ?? true;
