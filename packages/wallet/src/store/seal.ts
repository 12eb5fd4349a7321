import { sha256 } from "ethers";
import { WalletError } from "../errors.ts";

/** Hex digits of a seal: 128 bits. */
const DIGITS = 32;

function digest(key: string, text: string, scope: string): string {
  return sha256(new TextEncoder().encode(`${scope}\n${key}\n${text}`)).slice(2, 2 + DIGITS);
}

/**
 * The text of a record with a hash in front, so that a changed byte is noticed.
 * @param scope what the record belongs to; it cannot be opened in another scope
 */
export function sealText(key: string, text: string, scope: string): string {
  return digest(key, text, scope) + text;
}

/** The text that `sealText` sealed; undefined if key, text, seal or scope differ. */
export function openText(key: string, sealed: unknown, scope: string): string | undefined {
  if (typeof key !== "string" || typeof sealed !== "string") return undefined;
  const text = sealed.slice(DIGITS);
  return digest(key, text, scope) === sealed.slice(0, DIGITS) ? text : undefined;
}

/** @param what the record or file, as the message names it */
export function damaged(what: string, cause?: unknown): WalletError {
  const problem = `${what} is damaged, and it may be the only copy of a payment in flight, a purchase or what an extension stored`;
  const remedy =
    "restore the store from a backup, or move it away and restore the wallet from its words: no money is lost";
  return new WalletError("STORE_DAMAGED", `${problem}; ${remedy}`, {}, { cause });
}
