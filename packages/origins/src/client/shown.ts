import { decodeOriginHeader } from "../core/header.ts";
import type { Origins } from "../wallet/origins.ts";
import type { SetKey } from "../wallet/records.ts";

/**
 * The followed sets that a payment of this wallet showed.
 * @param header what it sent in the header ORIGIN_HEADER
 * @throws SottoError INVALID_ARGUMENT, INVALID_FIELD_ELEMENT
 */
export const shownSets = (origins: Pick<Origins, "setsWith">, header: string): SetKey[] =>
  origins.setsWith(decodeOriginHeader(header).map(({ maskRoot }) => maskRoot));
