import { randomBytes } from "node:crypto";
import { type Parse, parse } from "@sotto/server";
import type { RegistryKey } from "../crypto/keys.ts";
import { type CountryCode, isCountry } from "../http/numbers.ts";
import type { Rate } from "../quotas/rate.ts";

const { wrong } = parse;

/** `ID:HEX`, comma-separated, the current key first. */
export const keyRing: Parse<readonly RegistryKey[]> = (text) => {
  const keys = parse.list((item) => {
    const [, id = "", hex = ""] = /^([a-z0-9-]{1,16}):(?:0x)?([0-9a-fA-F]{64})$/.exec(item) ?? [];
    if (id === "") return wrong(KEY_RING);
    return { id, key: Uint8Array.from(Buffer.from(hex, "hex")) };
  })(text);
  if (keys.length === 0 || keys.length > 4) return wrong(KEY_RING);
  return keys;
};
const KEY_RING = "1 to 4 keys like ID:HEX, the current one first: ID 1 to 16 of a-z 0-9 -, HEX 64 digits";

/** Makes a key in the format of `keyRing`. */
export const newKey = (id: string): string => `${id}:${randomBytes(32).toString("hex")}`;

/** `LIMIT/SECONDS`, comma-separated; all limits apply. */
export const rates: Parse<readonly Rate[]> = (text) => {
  const all = parse.list((item) => {
    const [, limit = "", seconds = ""] = /^([0-9]{1,9})\/([1-9][0-9]{0,8})$/.exec(item) ?? [];
    return limit === "" ? wrong(RATES) : { limit: Number(limit), seconds: Number(seconds) };
  })(text);
  // An empty list would mean no limit, which is probably a mistake.
  return all.length === 0 ? wrong(RATES) : all;
};
const RATES = "limits like 60/60,1000/86400: uses, then seconds";

export const showRates = (list: readonly Rate[]): string =>
  list.map(({ limit, seconds }) => `${limit}/${seconds}`).join(",");

export const country: Parse<CountryCode> = (text) =>
  isCountry(text) ? text : wrong("a country as two capital letters (ISO 3166), like DE");

export const url: Parse<string> = (text) => {
  const { username, password, hash, protocol } = URL.canParse(text) ? new URL(text) : new URL("none:");
  const plain = username === "" && password === "" && hash === "";
  return /^https?:$/.test(protocol) && plain ? text : wrong("an https URL without user, password and fragment");
};
