// Cache of verified mappings, so that the registry does not see every payment and cannot rate-limit it.
import { BINDING_LIFETIME_SECONDS } from "@sotto/protocol";
import { type Wallet, WalletError } from "@sotto/wallet";
import { hashText } from "../purchase/hash.ts";
import type { PhoneRecipient } from "./mapping.ts";
import { phonePin } from "./pins.ts";

/**
 * Maximum age of a cached mapping, ms: one day. If a number moves to another wallet, a payer may keep paying the old
 * wallet for up to this time, provided that the 402 still names it.
 */
export const MAPPING_CACHE_MS = 86_400_000;

type Place = Pick<Wallet, "store" | "now">;

const keyOf = (registry: string, phone: string): string => `phone/known/${hashText(`${registry} ${phone}`)}`;

/** Caches a verified and pinned mapping until `cacheMs` have passed or the wallet's signature expires. */
export async function keepMapping(place: Place, found: PhoneRecipient, cacheMs: number): Promise<void> {
  if (cacheMs === 0) return;
  const { phone, registry, wallet, shieldedAddress, issuedAt } = found;
  const verifiedAt = place.now();
  const expiresAt = Math.min(verifiedAt + cacheMs, (issuedAt + BINDING_LIFETIME_SECONDS) * 1000);
  await place.store.put(keyOf(registry, phone), { wallet, shieldedAddress, issuedAt, verifiedAt, expiresAt });
}

/**
 * The cached mapping of the number, if it has not expired and the number is still pinned to it.
 * @throws WalletError STORE_DAMAGED
 */
export async function knownMapping(
  place: Place,
  registry: string,
  phone: string,
  cacheMs: number,
): Promise<PhoneRecipient | undefined> {
  const record = await place.store.get(keyOf(registry, phone));
  if (record === undefined || cacheMs === 0) return undefined;
  const { wallet, shieldedAddress, issuedAt, verifiedAt, expiresAt } = Object(record.value) as Record<string, unknown>;
  const whole = [issuedAt, verifiedAt, expiresAt].every(Number.isSafeInteger);
  if (!whole || typeof wallet !== "string" || typeof shieldedAddress !== "string")
    throw new WalletError("STORE_DAMAGED", "the stored verified wallet of a phone number is unreadable");
  const age = place.now() - Number(verifiedAt);
  // Setting the clock back does not extend a mapping's lifetime.
  if (age < 0 || age >= cacheMs || place.now() >= Number(expiresAt)) return undefined;
  const pin = await phonePin(place.store, phone);
  const pinned = pin?.wallet === wallet && pin.shieldedAddress === shieldedAddress && pin.issuedAt === issuedAt;
  if (!pinned) return undefined;
  return { phone, registry, wallet: wallet as PhoneRecipient["wallet"], shieldedAddress, issuedAt: Number(issuedAt) };
}
