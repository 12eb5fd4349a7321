import type { Row } from "./schema.ts";

/** What a row keeps encrypted. */
export interface LinkRecord {
  readonly phone: string;
  readonly wallet: string;
  readonly key: string;
  readonly signature: string;
  readonly chainId: string;
  readonly pool: string;
  readonly service: string;
  /** s */
  readonly issuedAt: number;
  /** issuedAt of the link with which the number was last proven; renewals keep it. s */
  readonly provenIssuedAt: number;
  /** Of the signed struct. */
  readonly digest: string;
  /** s */
  readonly expiresAt: number;
}

/** A row of phone_mappings with its head beside it. */
export type MappingRow = Row<"phone_mappings"> & {
  readonly head_version: number | null;
  readonly head_master: string | null;
  readonly head_seal: string | null;
};
