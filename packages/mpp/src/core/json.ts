// JSON objects as base64url, the form in which MPP puts them into headers.
import { describe, readStrictJson } from "@sotto/protocol/extend";
import { type MppErrorCode, refuse } from "./errors.ts";

/** A parsed JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** 16,384 characters of base64url: twice what a header of either side may have. */
const MAX_LENGTH = 16_384;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** Base64url without padding. */
export function toBase64Url(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/**
 * Strict inverse of `toBase64Url`: one text for each sequence of bytes.
 * @returns undefined if it is not base64url
 */
export function fromBase64Url(text: string): Uint8Array | undefined {
  if (!BASE64URL.test(text) || text.length % 4 === 1) return undefined;
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return toBase64Url(bytes) === text ? bytes : undefined;
}

/**
 * Canonical JSON (RFC 8785): keys in the order of their UTF-16 code units, no white space. Numbers and texts are as
 * `JSON.stringify` writes them, which the RFC demands. Fields that are undefined are left out.
 *
 * @throws URIError for a lone surrogate, which has no encoding
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) {
    if (typeof value === "string") encodeURIComponent(value);
    return JSON.stringify(value);
  }
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${canonicalJson(key)}:${canonicalJson(field)}`).join(",")}}`;
}

/** A JSON object as base64url. */
export const encodeJson = (value: Json, write: (value: Json) => string = JSON.stringify): string =>
  toBase64Url(new TextEncoder().encode(write(value)));

/** The text that is encoded as base64url. @throws MppError with the code */
export function decodeText(encoded: unknown, name: string, code: MppErrorCode): string {
  if (typeof encoded !== "string" || encoded.length > MAX_LENGTH)
    refuse(code, `${name} must be a text of at most ${MAX_LENGTH} characters, got ${describe(encoded)}`);
  const bytes = fromBase64Url(encoded);
  if (bytes === undefined) refuse(code, `${name} must be base64url without padding, got ${describe(encoded)}`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    return refuse(code, `${name} is not UTF-8`, {}, cause);
  }
}

/**
 * Parses a JSON object: no key twice, no deep nesting.
 * @throws MppError with the code
 */
export function parseJson(text: string, name: string, code: MppErrorCode): Json {
  const value = readStrictJson(text, name, (_, message) => refuse(code, message));
  return recordOf(value, name, code);
}

/** @throws MppError with the code if it is not an object */
export function recordOf(value: unknown, name: string, code: MppErrorCode): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    refuse(code, `${name} must be an object, got ${describe(value)}`);
  return value as Json;
}

/** Reads a field of an object; those of its prototype are not part of the JSON. */
export const fieldOf = (json: Json, name: string): unknown => (Object.hasOwn(json, name) ? json[name] : undefined);
