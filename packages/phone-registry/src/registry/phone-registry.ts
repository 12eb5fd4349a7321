// The interface of an open registry.
import type { LiveLimits } from "./options.ts";
import type {
  Erased,
  EraseRequest,
  LinkRequest,
  LinkResult,
  Mapping,
  NonceUse,
  ResolveRequest,
  UnlinkRequest,
  VerifyRequest,
  VerifyResult,
} from "./types.ts";

/** The data that still depends on older keys. */
export interface RotationState {
  /** Records under an older master key. */
  readonly master: number;
  /** Records under an older index key. */
  readonly index: number;
  /** Rows under an older index key that expire within two days (codes, used signatures, nonces, quotas). */
  readonly fading: number;
  /** Older keys that no row needs, as master:ID or index:ID. They may be removed from the ring. */
  readonly unused: readonly string[];
  /** Records that could not be decrypted and were not changed: tampered with, or under a key that is not in the ring. */
  readonly refused: number;
}

/** Options of a rotation of keys. */
export interface RotateOptions {
  /** Records per transaction; default 100. */
  readonly batch?: number | undefined;
  /** Aborts between two batches. The next run resumes. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a check of all links. */
export interface CheckOptions {
  /** Accepts the current links as the new baseline; use it after examining an incident and erasing damaged links. */
  readonly accept?: boolean | undefined;
}

/** The result of a check of all links. */
export interface CheckResult {
  /** Number of links. */
  readonly links: number;
  /**
   * Number of changes to links. It only grows: a smaller number than before means that the whole database was restored
   * to an older state.
   */
  readonly changes: number;
}

/** The registry without HTTP: links, codes, lookups. */
export interface PhoneRegistry {
  /** The database that holds the registry. */
  readonly kind: "sqlite" | "postgres";
  /**
   * Links a number to a wallet. The link is unverified until the number is proven.
   * @throws RegistryError INVALID_REQUEST, SIGNATURE_INVALID (or what the checks throw), SIGNATURE_REPLAYED,
   *   LINK_OUTDATED, CODES_LIMITED
   */
  link(request: LinkRequest): Promise<LinkResult>;
  /**
   * Proves a number with the code that was sent to it.
   * @throws RegistryError INVALID_REQUEST, CODE_WRONG, CODE_EXPIRED, CODE_EXHAUSTED, CODES_LIMITED, LINK_OUTDATED
   */
  verify(request: VerifyRequest): Promise<VerifyResult>;
  /**
   * Resolves a number. The work is the same for known and unknown numbers.
   * @throws RegistryError INVALID_REQUEST, LOOKUPS_LIMITED, RECORD_TAMPERED
   */
  resolve(request: ResolveRequest): Promise<Mapping | undefined>;
  /**
   * Deletes a link at the signed request of its wallet.
   * @throws RegistryError INVALID_REQUEST, SIGNATURE_INVALID (or what the checks throw), SIGNATURE_REPLAYED, NOT_LINKED,
   *   LINK_OUTDATED, CODES_LIMITED
   */
  unlink(request: UnlinkRequest): Promise<void>;
  /** Deletes all data of a number, after the operator has verified its owner's request. */
  erase(request: EraseRequest): Promise<Erased>;
  /** Consumes the nonce of a signed request. @throws RegistryError INVALID_REQUEST, NONCE_REFUSED */
  useNonce(use: NonceUse): Promise<void>;
  /** Re-encrypts all records under the current keys, in batches. Servers may run meanwhile; an interrupted run resumes. */
  rotate(options?: RotateOptions): Promise<RotationState>;
  /** How many records are encrypted under earlier keys. */
  rotation(): Promise<RotationState>;
  /** Deletes expired data: codes, unverified and expired links, used nonces, quotas and old audit entries. */
  sweep(): Promise<void>;
  /**
   * Checks all links: that none was deleted, restored or replaced by an older version outside the registry. `sweep` does it every
   * hour. It blocks no requests.
   * @throws RegistryError RECORD_TAMPERED
   */
  check(options?: CheckOptions): Promise<CheckResult>;
  /** Uses these limits from the next request on. @throws RegistryError INVALID_OPTIONS */
  configure(limits: LiveLimits): void;
  /** Asks the database for a constant, for readiness checks. @throws DatabaseError STORE_UNAVAILABLE */
  ping(): Promise<void>;
  /** Stops the timers and closes the database. Later calls reject with REGISTRY_CLOSED. */
  close(): Promise<void>;
}
