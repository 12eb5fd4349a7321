import { assertTimestamp } from "../contexts.ts";
import { fail } from "../errors.ts";
import { assertIssuedAt, BINDING_SLOT_SECONDS } from "./binding.ts";

/** Lifetime of a binding, seconds: 400 days. After that the wallet must sign a new one. */
export const BINDING_LIFETIME_SECONDS = 400 * 86_400;

/** Maximum age of the issuedAt in a request to link, seconds: the owners of a multisig need time to sign. */
export const BINDING_MAX_AGE_SECONDS = 86_400;

/** Maximum time by which issuedAt may be in the future, seconds: one slot, plus 30 s of clock skew. */
export const BINDING_LEAD_SECONDS = BINDING_SLOT_SECONDS + 30;

/**
 * The values of issuedAt to try if a request to link omits it: the current slot, the previous one, the next one.
 * @param now ms
 */
export function bindingSlots(now: number): number[] {
  const slot = Math.floor(assertTimestamp(now, "now") / 1000 / BINDING_SLOT_SECONDS) * BINDING_SLOT_SECONDS;
  return [slot, slot - BINDING_SLOT_SECONDS, slot + BINDING_SLOT_SECONDS].filter((issuedAt) => issuedAt >= 0);
}

function assertNotAhead(issuedAt: number, now: number): void {
  if (issuedAt * 1000 > assertTimestamp(now, "now") + BINDING_LEAD_SECONDS * 1000) {
    const ahead = Math.ceil(issuedAt - now / 1000);
    const message = `issuedAt is ${ahead} s in the future, but at most ${BINDING_LEAD_SECONDS} s are allowed; check the clock`;
    fail("BINDING_FROM_THE_FUTURE", message, { issuedAt });
  }
}

/**
 * Checks that a binding is not expired and not dated in the future.
 * @param now ms
 * @throws SottoError BINDING_FROM_THE_FUTURE, BINDING_EXPIRED, BINDING_INVALID
 */
export function assertBindingTime(binding: { readonly issuedAt: number }, now: number): void {
  const issuedAt = assertIssuedAt(Object(binding).issuedAt);
  assertNotAhead(issuedAt, now);
  if ((issuedAt + BINDING_LIFETIME_SECONDS) * 1000 <= now)
    fail("BINDING_EXPIRED", "the binding is more than 400 days old: its wallet must sign a new one", { issuedAt });
}

/**
 * Checks that a binding is recent enough to be linked: at most 24 hours old.
 * @param now ms
 * @throws SottoError BINDING_FROM_THE_FUTURE, BINDING_STALE, BINDING_INVALID
 */
export function assertBindingFresh(binding: { readonly issuedAt: number }, now: number): void {
  const issuedAt = assertIssuedAt(Object(binding).issuedAt);
  assertNotAhead(issuedAt, now);
  if ((issuedAt + BINDING_MAX_AGE_SECONDS) * 1000 < now)
    fail("BINDING_STALE", "issuedAt is more than 24 hours old: the wallet must sign again", { issuedAt });
}
