/** Names a token in the store. */
export interface TokenId {
  /** Hex with 0x. */
  readonly keyId: string;
  /** base64url, 43 characters. */
  readonly nonce: string;
}

/** The name of a token as one text. */
export const spendId = ({ keyId, nonce }: TokenId): string => `${keyId}:${nonce}`;
