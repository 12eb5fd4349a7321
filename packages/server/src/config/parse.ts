import { isIP } from "node:net";
import { type Address, baseUrl, decodeShieldedAddress, parseAddress, type ShieldedAddress } from "@sotto/protocol";
import { LEVELS, type LogLevels, parseLogLevels } from "./log-levels.ts";

/** Parses one setting. It throws an Error whose message completes a sentence that begins with the variable's name. */
export type Parse<T> = (text: string) => T;

/** Refuses a setting. @param expected completes "VARIABLE must be" */
export const wrong = (expected: string): never => {
  throw new Error(`must be ${expected}`);
};

/** A decimal integer from `least` to `most`. */
export const integer =
  (least: number, most = Number.MAX_SAFE_INTEGER): Parse<number> =>
  (text) => {
    const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    return wrong(`an integer from ${least} to ${most}`);
  };

/** A whole number of at most 78 digits, in decimal. */
export const wholeNumber: Parse<bigint> = (text) =>
  /^(0|[1-9][0-9]{0,77})$/.test(text) ? BigInt(text) : wrong("a whole number without sign or leading zeros");

/** An address: 0x and 40 hex digits. If it is in mixed case, its checksum must be correct. */
export const address: Parse<Address> = (text) => {
  try {
    return parseAddress(text);
  } catch {
    return wrong("an address: 0x and 40 hex digits, with a valid checksum if it is in mixed case");
  }
};

/** A shielded address: 0x and 128 hex digits. */
export const shieldedAddress: Parse<ShieldedAddress> = (text) => {
  try {
    return decodeShieldedAddress(text);
  } catch {
    return wrong("a shielded address: 0x and 128 hex digits, a packed encryption key and an owner tag");
  }
};

/** Any text. */
export const text: Parse<string> = (value) => value;

/** One of the given values. */
export const oneOf =
  <T extends string>(...values: readonly T[]): Parse<T> =>
  (value) =>
    values.find((known) => known === value) ?? wrong(`one of ${values.join(", ")}`);

/** A comma-separated list. Empty parts are left out. */
export const list =
  <T>(item: Parse<T>): Parse<readonly T[]> =>
  (value) =>
    value
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "")
      .map(item);

/** An http(s) URL. @returns the URL without a trailing slash */
export const httpUrl: Parse<string> = (value) => {
  const valid = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  return valid ? value.replace(/\/$/, "") : wrong("an http or https URL");
};

/** A server's base URL is part of every payment token, and tokens are sent in headers. */
const MAX_BASE_ADDRESS_LENGTH = 256;

/** Normalized, because clients and tokens identify a server by it. */
export const publicUrl: Parse<string> = (value) =>
  (value.length <= MAX_BASE_ADDRESS_LENGTH ? baseUrl(value) : undefined) ??
  wrong(`an http or https URL of at most ${MAX_BASE_ADDRESS_LENGTH} characters, without user, query and fragment`);

/** The URL of an SQLite or PostgreSQL database. */
export const storeUrl: Parse<string> = (value) =>
  /^(sqlite:.+|postgres(ql)?:\/\/.+)$/.test(value) ? value : wrong("sqlite: with a path, or a postgres:// URL");

/** `/zk`, `/a/b`, or `/` for no path. @returns the path without a trailing slash, `""` for no path */
export const basePath: Parse<string> = (value) =>
  /^\/([A-Za-z0-9_~-]+(\/[A-Za-z0-9_~-]+)*)?$/.test(value)
    ? value.replace(/\/$/, "")
    : wrong("a path like /zk, or / for no path");

/** A private key: 32 bytes as hex with 0x, not zero. */
export const privateKey: Parse<string> = (value) =>
  /^0x[0-9a-fA-F]{64}$/.test(value) && BigInt(value) > 0n ? value : wrong("32 bytes as hex with 0x");

/** A secret that a server shares with another program: 32 to 512 characters, because it is the key of an HMAC. */
export const sharedSecret: Parse<string> = (value) =>
  value.length >= 32 && value.length <= 512 ? value : wrong("32 to 512 characters");

/** An IP address, a network like 10.0.0.0/8, or the name of a well-known network. */
export const network: Parse<string> = (value) => {
  const [host = "", bits, ...rest] = value.split("/");
  const version = isIP(host);
  const prefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
  const valid =
    ["loopback", "linklocal", "uniquelocal"].includes(value) || (version !== 0 && prefix && rest.length === 0);
  return valid ? value : wrong("IP addresses, networks like 10.0.0.0/8, loopback, linklocal or uniquelocal");
};

/** `*`, or the origin of a web page: scheme, host and port, without a path. */
export const origin: Parse<string> = (value) =>
  value === "*" || (URL.canParse(value) && new URL(value).origin === value)
    ? value
    : wrong("* or origins like https://data.example");

/** A level, and levels of parts of the program: `info`, `relayer=debug` or `warn,relayer=debug,http=silent`. */
export const logLevels: Parse<LogLevels> = (value) =>
  parseLogLevels(value) ??
  wrong(`a level, and levels of parts, as in info,relayer=debug; levels are ${LEVELS.join(", ")}`);
