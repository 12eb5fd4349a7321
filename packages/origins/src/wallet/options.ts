import { type Address, baseUrl, isSecureUrl, parseAddress, SottoError } from "@sotto/protocol";
import type { Wallet } from "@sotto/wallet";
import { parseSetName } from "../core/set.ts";
import { OriginError } from "./errors.ts";
import type { SetKey } from "./records.ts";

/** The part of a wallet that its origins use. */
export type OriginsWallet = Pick<
  Wallet,
  | "chain"
  | "confirmed"
  | "height"
  | "keepApart"
  | "leafAt"
  | "notes"
  | "now"
  | "pool"
  | "proveNote"
  | "scan"
  | "spends"
  | "store"
  | "treeSizeAt"
>;

/** Least crowd without which no origin is shown, unless the owner configured another one. */
export const MINIMUM_CROWD = 1_000;

/** Maximum number of mirrors of a set. */
const MAX_MIRRORS = 8;

/** A set to follow. Chain and pool are those of the wallet. */
export interface Followed {
  /** The account with whose key the curator signs heads. */
  readonly curator: string;
  /** Name of the set. */
  readonly name: string;
  /** Base URL of the curator's files. */
  readonly url: string;
  /** Base URLs of copies of the set's heads, best at other operators. A head must be the same at all of them. Default: none. */
  readonly mirrors?: readonly string[] | undefined;
  /** Least crowd without which no origin is shown, 0 or more. Default: 1,000. */
  readonly minimumCrowd?: number | undefined;
}

/** Consents of the wallet's owner. */
export interface FollowOptions {
  /** Accepts the removal of leaves for which the wallet stopped (ORIGIN_REMOVAL_LARGE). Default: false. */
  readonly acceptRemoval?: boolean | undefined;
  /**
   * Claims spends from before the wallet followed the set, too. Not for a wallet that was restored from its words: it does not know
   * which roots it showed. Default: false.
   */
  readonly claimEarlier?: boolean | undefined;
}

/** @throws OriginError INVALID_OPTION */
export function parseSetKey(value: SetKey): { curator: Address; name: string } {
  const { curator, name } = Object(value) as SetKey;
  return asOption(() => ({ curator: parseAddress(curator, "curator"), name: parseSetName(name) }));
}

/** @throws OriginError INVALID_OPTION */
export function parseFollowed(value: Followed, chainId: bigint) {
  const { curator, name, url, mirrors = [], minimumCrowd } = Object(value) as Followed;
  if (!Array.isArray(mirrors) || mirrors.length > MAX_MIRRORS)
    throw new OriginError("INVALID_OPTION", `mirrors must be a list of at most ${MAX_MIRRORS} base URLs`);
  if (minimumCrowd !== undefined && (!Number.isSafeInteger(minimumCrowd) || minimumCrowd < 0))
    throw new OriginError("INVALID_OPTION", "minimumCrowd must be a whole number, 0 or more");
  const key = parseSetKey({ curator: curator as Address, name });
  return {
    ...key,
    url: parseBase(url, "url", chainId),
    mirrors: mirrors.map((mirror) => parseBase(mirror, "a mirror", chainId)),
    minimumCrowd,
  };
}

function parseBase(value: unknown, name: string, chainId: bigint): string {
  const url = baseUrl(value);
  if (url === undefined) throw new OriginError("INVALID_OPTION", `${name} must be an http(s) URL`);
  if (!isSecureUrl(url, chainId)) throw new OriginError("INVALID_OPTION", `${name} must be an https URL, got ${url}`);
  return url;
}

function asOption<T>(parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof SottoError)) throw cause;
    throw new OriginError("INVALID_OPTION", cause.message, {}, { cause });
  }
}
