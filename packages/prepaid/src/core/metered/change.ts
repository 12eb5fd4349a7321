import { assertAmount } from "@sotto/protocol";
import { fail } from "@sotto/protocol/extend";
import { assertPrepaidValue, MAX_PREPAID_VALUES } from "../values.ts";
import { assertList } from "./fields.ts";
import { assertMeteredRule, type MeteredRule } from "./rule.ts";

/** Maximum number of tokens in the change of one request. */
export const MAX_CHANGE_TOKENS = 8;
/** Maximum number of tokens among which a wallet looks for a swap. */
const MAX_HELD = 1_000_000;

/**
 * The values of the tokens that a metered route takes and gives as change: each 1, 2 and 5 times a power of ten from its grain
 * to its cap, ascending, at most 7.
 * @throws SottoError INVALID_ARGUMENT
 */
export function meteredValues(rule: MeteredRule): readonly bigint[] {
  const { cap, grain } = assertMeteredRule(rule);
  const values: bigint[] = [];
  for (let power = 1n; power <= cap; power *= 10n)
    values.push(...[power, 2n * power, 5n * power].filter((value) => grain <= value && value <= cap));
  return values;
}

/**
 * Checks that a key exists for every value of a metered route: without one of them, small tokens could not be swapped, and the
 * payer's money would be stuck in them.
 * @param existing the values of the merchant's schedule
 * @throws SottoError INVALID_ARGUMENT; the message names the values that lack a key
 */
export function assertMeteredValues(rule: MeteredRule, existing: readonly bigint[]): void {
  const values = meteredValues(rule);
  const given = parseValues(existing);
  const missing = values.filter((value) => !given.includes(value));
  if (missing.length > 0)
    fail(
      "INVALID_ARGUMENT",
      `a metered route needs a key for each value from its grain to its cap; add keys for ${missing.join(", ")}`,
    );
}

const parseValues = (values: unknown): readonly bigint[] =>
  assertList(values, 0, MAX_PREPAID_VALUES, "the values of keys").map(assertPrepaidValue);

/**
 * The change of a request: the values of its tokens, largest first, each as large as the rest allows. Client and server compute
 * the same list. Only multiples of the grain are used, so that nothing is left over.
 * @param charge a multiple of the grain, at most the cap
 * @returns at most 8 values, whose sum is the cap minus the charge
 * @throws SottoError INVALID_ARGUMENT, INVALID_AMOUNT
 */
export function changeOf(rule: MeteredRule, charge: bigint): readonly bigint[] {
  const { cap, grain } = assertMeteredRule(rule);
  assertAmount(charge, "the charge");
  if (charge > cap || charge % grain !== 0n)
    fail("INVALID_AMOUNT", `the charge is ${charge}, but it must be a multiple of ${grain}, at most ${cap}`);
  const tokens: bigint[] = [];
  let rest = cap - charge;
  for (const value of meteredValues(rule).toReversed()) {
    if (value % grain !== 0n) continue;
    for (; rest >= value; rest -= value) tokens.push(value);
  }
  return tokens;
}

/** A swap: tokens that are spent together, and the fewer tokens of the same sum that are signed for them. */
export interface SwapRecipe {
  /** Values of the spent tokens, ascending. */
  readonly spend: readonly bigint[];
  /** Values of the new tokens, ascending. */
  readonly receive: readonly bigint[];
}

/** In tenths of the next power of ten; those that save the most tokens first. */
const RECIPES: readonly SwapRecipe[] = [
  { spend: [2n, 2n, 2n, 2n, 2n], receive: [5n, 5n] },
  { spend: [1n, 2n, 2n], receive: [5n] },
  { spend: [1n, 1n], receive: [2n] },
  { spend: [5n, 5n], receive: [10n] },
];

/**
 * The swaps among tokens of some values: for each power of ten 1+1 to 2, 1+2+2 to 5, 5+5 to 10 and 2+2+2+2+2 to 5+5, if all
 * values of the swap exist. Each leaves fewer tokens, so swapping ends. There are no others, so a swap says little about its owner.
 * @param values for which keys exist
 * @returns those that save the most tokens first, of these the smallest values first
 * @throws SottoError INVALID_ARGUMENT, INVALID_AMOUNT
 */
export function swapRecipes(values: readonly bigint[]): readonly SwapRecipe[] {
  const existing = new Set(parseValues(values));
  const powers = [...new Set([...existing].map((value) => 10n ** BigInt(String(value).length - 1)))].sort((a, b) =>
    a < b ? -1 : 1,
  );
  return RECIPES.flatMap(({ spend, receive }) =>
    powers
      .map((power) => ({ spend: spend.map((v) => v * power), receive: receive.map((v) => v * power) }))
      .filter((recipe) => [...recipe.spend, ...recipe.receive].every((value) => existing.has(value))),
  );
}

/**
 * The swap that a wallet makes next: the first of `swapRecipes` for which it has the tokens.
 * @param values for which keys exist, up to the value that the wallet needs: for a route, its `meteredValues`
 * @param held the values of the wallet's unspent tokens of one month, in any order
 * @returns undefined if no swap is possible
 * @throws SottoError INVALID_ARGUMENT, INVALID_AMOUNT
 */
export function nextSwap(values: readonly bigint[], held: readonly bigint[]): SwapRecipe | undefined {
  const recipes = swapRecipes(values);
  const counts = new Map<bigint, number>();
  for (const value of assertList(held, 0, MAX_HELD, "the held tokens").map(assertPrepaidValue))
    counts.set(value, (counts.get(value) ?? 0) + 1);
  const has = (spend: readonly bigint[]) =>
    spend.every((value) => (counts.get(value) ?? 0) >= spend.filter((other) => other === value).length);
  return recipes.find(({ spend }) => has(spend));
}
