import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { assertAmount, type Bytes32, bytesToHex } from "@sotto/protocol";
import { assertObject, describe, fail, parseAmount, recode } from "@sotto/protocol/extend";
import { assertPrepaidValue } from "../values.ts";
import { assertList, exactFields } from "./fields.ts";
import { assertUnitCounts, assertUnitName, MAX_METERED_UNITS } from "./units.ts";

/** Maximum size of a rule as JSON, characters. */
export const MAX_METERED_RULE_LENGTH = 4096;
/** The grain is at least this part of the cap, so that change has few tokens. */
const MAX_GRAINS = 100n;
/** For how many units a price may be. Each divides the last one, so that sums stay exact. */
const PER = [1, 1_000, 1_000_000, 1_000_000_000] as const;
const SCALE = BigInt(PER.at(-1)!);
const DOMAIN = "sotto/v1/metered-rule\n";

/** A unit that a metered route counts, with its price. */
export interface MeteredUnit {
  /** 1 to 32 lower-case letters, digits and underscores. */
  readonly name: string;
  /** Price of `per` units, base units. */
  readonly price: bigint;
  /** 1, 1,000, 1,000,000 or 1,000,000,000: one unit may cost less than a base unit. */
  readonly per: number;
}

/** What a request of a metered route costs. Client and server agree to a rule by its hash before the request runs. */
export interface MeteredRule {
  /** Price of each request without its units, base units, at most the cap. */
  readonly base: bigint;
  /** 1 to 32, sorted by name. */
  readonly units: readonly MeteredUnit[];
  /** Maximum charge: the value of the token that the request shows, base units. */
  readonly cap: bigint;
  /**
   * Charges are rounded up to multiples of the grain, base units. It is 1, 2 or 5 times a power of ten, divides the cap, and is
   * at least cap/100.
   */
  readonly grain: bigint;
}

/** A rule as JSON. It has no other fields. */
export interface WireMeteredRule {
  /** Base units, decimal. */
  readonly base: string;
  /** Sorted by name. Prices are base units, decimal. */
  readonly units: readonly { readonly name: string; readonly price: string; readonly per: number }[];
  /** Base units, decimal. */
  readonly cap: string;
  /** Base units, decimal. */
  readonly grain: string;
}

function parseUnit(value: unknown): MeteredUnit {
  assertObject(value, "a unit");
  const { name: given, price, per } = value as Record<keyof MeteredUnit, unknown>;
  const name = assertUnitName(given);
  if (!(PER as readonly unknown[]).includes(per))
    fail("INVALID_INTEGER", `the price of ${name} must be per ${PER.join(", ")}, got ${describe(per)}`, { name });
  return Object.freeze({ name, price: assertAmount(price, `the price of ${name}`), per: per as number });
}

function parseUnits(value: unknown): readonly MeteredUnit[] {
  const units = assertList(value, 1, MAX_METERED_UNITS, "the units of a rule").map(parseUnit);
  if (units.some(({ name }, i) => i > 0 && name <= units[i - 1]!.name))
    fail("INVALID_ARGUMENT", "the units of a rule must be sorted by name, each name once");
  return Object.freeze(units);
}

/** Rules that `assertMeteredRule` returned, with their hashes. They are frozen, so both stay valid. */
const checked = new WeakMap<object, { hash?: Bytes32 }>();

/**
 * Checks a rule. Returns it frozen; checking that object again costs nothing.
 * @throws SottoError INVALID_ARGUMENT; the message names the field and the limit
 */
export function assertMeteredRule(value: unknown): MeteredRule {
  return recode("INVALID_ARGUMENT", "not a rule of a metered route", () => {
    if (checked.has(value as object)) return value as MeteredRule;
    assertObject(value, "a rule");
    const given = value as MeteredRule;
    const cap = assertPrepaidValue(given.cap);
    const grain = assertPrepaidValue(given.grain);
    const base = assertAmount(given.base, "base");
    if (base > cap) fail("INVALID_ARGUMENT", `base is ${base}, but the cap is ${cap}; raise the cap`);
    if (grain > cap || cap % grain !== 0n)
      fail("INVALID_ARGUMENT", `grain is ${grain}, but it must divide the cap ${cap}`);
    if (grain * MAX_GRAINS < cap)
      fail("INVALID_ARGUMENT", `grain is ${grain}, but it must be at least ${cap} / ${MAX_GRAINS}; raise the grain`);
    const rule = Object.freeze({ base, units: parseUnits(given.units), cap, grain });
    checked.set(rule, {});
    return rule;
  });
}

/** A rule for JSON. @throws SottoError INVALID_ARGUMENT */
export function encodeMeteredRule(rule: MeteredRule): WireMeteredRule {
  const { base, units, cap, grain } = assertMeteredRule(rule);
  return {
    base: String(base),
    units: units.map(({ name, price, per }) => ({ name, price: String(price), per })),
    cap: String(cap),
    grain: String(grain),
  };
}

/**
 * Inverse of `encodeMeteredRule`, for a rule from another party. Refuses unknown fields, because the hash covers all fields.
 * @param wire the parsed JSON; limit its text to MAX_METERED_RULE_LENGTH before parsing it
 * @throws SottoError INVALID_ARGUMENT
 */
export function decodeMeteredRule(wire: unknown): MeteredRule {
  return recode("INVALID_ARGUMENT", "not a rule of a metered route", () => {
    const { base, units, cap, grain } = exactFields(wire, ["base", "units", "cap", "grain"], "a rule");
    return assertMeteredRule({
      base: parseAmount(base, "base"),
      units: assertList(units, 1, MAX_METERED_UNITS, "the units of a rule").map((unit) => {
        const { name, price, per } = exactFields(unit, ["name", "price", "per"], "a unit");
        return { name, price: parseAmount(price, "the price of a unit"), per };
      }),
      cap: parseAmount(cap, "cap"),
      grain: parseAmount(grain, "grain"),
    });
  });
}

/**
 * The hash of a rule: SHA-256 of "sotto/v1/metered-rule", a line feed, and the rule's JSON with its fields in the order of
 * `encodeMeteredRule` and without spaces. A request names the rule that it agrees to by this hash.
 * @returns 32 bytes, hex with 0x
 * @throws SottoError INVALID_ARGUMENT
 */
export function meteredRuleHash(rule: MeteredRule): Bytes32 {
  const valid = assertMeteredRule(rule);
  const cached = checked.get(valid)!;
  cached.hash ??= bytesToHex(sha256(utf8ToBytes(DOMAIN + JSON.stringify(encodeMeteredRule(valid)))));
  return cached.hash;
}

/**
 * What a request costs: base plus the price of its units, rounded up to the grain, at most the cap. The sum is exact.
 * @param units counts by name: integers from 0 to 2^64 - 1, as bigints or safe numbers. A unit that is left out counts 0
 * @returns base units, a multiple of the grain
 * @throws SottoError INVALID_ARGUMENT if the rule does not price a unit; INVALID_INTEGER for NaN, a fraction, a negative or too
 *   large count
 */
export function chargeOf(rule: MeteredRule, units: Readonly<Record<string, bigint | number>>): bigint {
  const { base, units: priced, cap, grain } = assertMeteredRule(rule);
  const counts = assertUnitCounts(units);
  const names = priced.map(({ name }) => name);
  const other = Object.keys(counts).find((name) => !names.includes(name));
  if (other !== undefined)
    fail("INVALID_ARGUMENT", `the rule does not price the unit ${other}; it prices ${names.join(", ")}`);
  const sum = priced.reduce(
    (total, { name, price, per }) => total + (counts[name] ?? 0n) * price * (SCALE / BigInt(per)),
    base * SCALE,
  );
  const step = grain * SCALE;
  const charge = ((sum + step - 1n) / step) * grain;
  return charge < cap ? charge : cap;
}
