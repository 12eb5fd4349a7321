import type { Row } from "./schema.ts";

/** The encrypted part of a row. */
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
  /** issuedAt of the link with which the number was last verified; renewals keep it. s */
  readonly provenIssuedAt: number;
  /** Digest of the signed struct. */
  readonly digest: string;
  /** s */
  readonly expiresAt: number;
}

/** A row of phone_mappings with its head. */
export type MappingRow = Row<"phone_mappings"> & {
  readonly head_version: number | null;
  readonly head_master: string | null;
  readonly head_seal: string | null;
};
