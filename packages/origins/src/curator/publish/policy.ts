import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Bytes32 } from "@sotto/protocol";
import { sha256Hex } from "../../core/manifest.ts";
import type { OriginSet } from "../../core/set.ts";
import type { Judge } from "../judges/judge.ts";

/** The text that says what a curator accepts. */
export interface Policy {
  readonly text: string;
  /** SHA-256 of the text: what heads name. */
  readonly hash: Bytes32;
}

/** @param description the curator's own words */
export function policyOf(
  { chainId, pool, curator, name }: OriginSet,
  confirmations: number,
  judges: readonly Judge[],
  description: string,
): Policy {
  const judged = judges.map((judge) => ({ judge: judge.name, ...judge.parameters }));
  const set = { chainId, pool, curator, name };
  const text = `${JSON.stringify({ ...set, description, confirmations, judges: judged }, null, 2)}\n`;
  return { text, hash: sha256Hex(utf8ToBytes(text)) };
}
