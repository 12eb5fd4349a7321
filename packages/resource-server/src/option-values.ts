// Checks that several options share.
import { invalidOption } from "./errors.ts";

/** Checks the integer of an option. @throws PaywallError INVALID_OPTION unless it is from `min` to `max` */
export function parseInteger(value: unknown, name: string, min: number, max: number): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < min || value > max)
    throw invalidOption(`${name} must be an integer from ${min} to ${max}, got ${String(value)}`);
  return value;
}

/** Whether `value` is an http(s) origin as browsers write it: scheme, host and a port that is not the default one. */
export function isOrigin(value: unknown): value is string {
  return typeof value === "string" && /^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value;
}

/**
 * Refuses fields that an option does not have: a misspelled name would otherwise mean the default.
 * @throws PaywallError INVALID_OPTION
 */
export function assertFields(value: object, name: string, fields: readonly string[]): void {
  const unknown = Object.keys(value).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw invalidOption(`${name}.${unknown} is unknown; ${name} has ${fields.join(", ")}`);
}
