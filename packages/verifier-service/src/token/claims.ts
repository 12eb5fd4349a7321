/** What a payment token says, beside iss, iat and exp. Numbers that may pass 2^53 are decimal strings. */
export interface TokenClaims {
  /** The reservation's id, and the payment's from then on. */
  readonly jti: string;
  /** keccak256 of the ten public signals, hex. */
  readonly digest: string;
  readonly chainId: string;
  readonly pool: string;
  /** The recipient's wallet. */
  readonly recipient: string;
  /** PK.x and owner tag of the recipient's shielded address, decimal. */
  readonly recipientKey: string;
  readonly recipientTag: string;
  readonly resource: string;
  /** Decimal: it opens signals 0 and 1 for the resource server. */
  readonly senderCommitment: string;
  readonly nullifier: string;
  /** Of the bundle, ms. */
  readonly timestamp: number;
  /** Seconds. */
  readonly validUntil: number;
}

/** The `typ` of its header. Another one once a claim changes its meaning. */
export const TOKEN_TYPE = "sotto-payment+jwt";
