// The sets for which a 402 asks: its field `payment.origins`.
import { type Address, baseUrl, parseAddress } from "@sotto/protocol";
import { assertInteger, assertObject, fail, recode } from "@sotto/protocol/extend";
import { parseSetName } from "./set.ts";

/** Field of a 402's `payment` that asks for origins. */
export const ORIGINS_FIELD = "origins";

/** Maximum number of sets for which one 402 asks. */
export const MAX_ASKED_SETS = 4;

/** Maximum age of a root, ms: 30 days. */
export const MAX_ROOT_AGE_MS = 2_592_000_000;

/** A set for which a 402 asks. Chain and pool are those of the payment. */
export interface AskedSet {
  /**
   * Base URL of the curator. A payer must not read heads from it: a server could name a URL of its own for each payer. It follows
   * the URLs that its owner configured for the key and the name.
   */
  readonly curator: string;
  /** The account with whose key the curator signs heads, lower case. */
  readonly key: Address;
  /** Which of the curator's sets it is: 1 to 32 lower-case letters, digits and hyphens. */
  readonly name: string;
  /** How long before the payment a root may have been replaced by a newer one, ms: 1 minute to 30 days. */
  readonly maxAgeMs: number;
}

/** The default of `maxAgeMs`: an hour. */
export const DEFAULT_ROOT_AGE_MS = 3_600_000;

/** The options of a set, with the default of `maxAgeMs`. */
export const withDefaults = (set: unknown): object => ({ maxAgeMs: DEFAULT_ROOT_AGE_MS, ...Object(set) });

/** Checks a set for which a 402 asks. @throws SottoError INVALID_ARGUMENT */
export function parseAskedSet(value: unknown): AskedSet {
  return recode("INVALID_ARGUMENT", "not a set to ask for", () => {
    assertObject(value, "a set");
    const { curator, key, name, maxAgeMs } = value as Record<keyof AskedSet, unknown>;
    return {
      curator: baseUrl(curator) ?? fail("INVALID_ARGUMENT", "curator must be an http(s) URL without query and user"),
      key: parseAddress(key, "key"),
      name: parseSetName(name),
      maxAgeMs: assertInteger(maxAgeMs, 60_000, MAX_ROOT_AGE_MS, "maxAgeMs"),
    };
  });
}

/** Checks the sets for which a 402 asks: one to MAX_ASKED_SETS, each once. @throws SottoError INVALID_ARGUMENT */
export function parseAskedSets(value: unknown): readonly AskedSet[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ASKED_SETS)
    fail("INVALID_ARGUMENT", `the sets to ask for must be a list of 1 to ${MAX_ASKED_SETS}`);
  const sets = value.map(parseAskedSet);
  if (new Set(sets.map(({ key, name }) => `${key}/${name}`)).size !== sets.length)
    fail("INVALID_ARGUMENT", "two of the sets to ask for have the same key and name");
  return sets;
}
