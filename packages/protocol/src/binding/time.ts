import { assertTimestamp } from "../contexts.ts";
import { fail } from "../errors.ts";
import { assertIssuedAt, BINDING_SLOT_SECONDS } from "./binding.ts";

/** Seconds a binding holds: 400 days. Then the wallet signs a new one. */
export const BINDING_LIFETIME_SECONDS = 400 * 86_400;

/** Seconds an issuedAt named by who links may lie back: multisigs take their time to sign. */
export const BINDING_MAX_AGE_SECONDS = 86_400;

/** Seconds from the future that are no lie: the next slot, and clocks that differ by half a minute. */
export const BINDING_LEAD_SECONDS = BINDING_SLOT_SECONDS + 30;

/**
 * The issuedAt to try for a link that does not name its own: the current slot, the one before, the one after.
 *
 * @param now ms
 */
export function bindingSlots(now: number): number[] {
  const slot = Math.floor(assertTimestamp(now, "now") / 1000 / BINDING_SLOT_SECONDS) * BINDING_SLOT_SECONDS;
  return [slot, slot - BINDING_SLOT_SECONDS, slot + BINDING_SLOT_SECONDS].filter((issuedAt) => issuedAt >= 0);
}

function checkLead(issuedAt: number, now: number): void {
  if (issuedAt * 1000 > assertTimestamp(now, "now") + BINDING_LEAD_SECONDS * 1000)
    fail("BINDING_FROM_THE_FUTURE", "the binding is dated in the future: is a clock wrong?", { issuedAt });
}

/**
 * A binding that is neither from the future nor expired.
 *
 * @param now ms
 * @throws SottoError BINDING_FROM_THE_FUTURE, BINDING_EXPIRED, BINDING_INVALID
 */
export function checkBindingTime(binding: { readonly issuedAt: number }, now: number): void {
  const issuedAt = assertIssuedAt(Object(binding).issuedAt);
  checkLead(issuedAt, now);
  if ((issuedAt + BINDING_LIFETIME_SECONDS) * 1000 <= now)
    fail("BINDING_EXPIRED", "the binding is more than 400 days old: its wallet must sign a new one", { issuedAt });
}

/**
 * A binding young enough to be linked: of the last 24 hours.
 *
 * @param now ms
 * @throws SottoError BINDING_FROM_THE_FUTURE, BINDING_STALE, BINDING_INVALID
 */
export function checkBindingFresh(binding: { readonly issuedAt: number }, now: number): void {
  const issuedAt = assertIssuedAt(Object(binding).issuedAt);
  checkLead(issuedAt, now);
  if ((issuedAt + BINDING_MAX_AGE_SECONDS) * 1000 < now)
    fail("BINDING_STALE", "issuedAt must be of the last 24 hours: sign again", { issuedAt });
}
