// The registry itself: what can be done with it once it is open.
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

export interface RotationState {
  /** Records still wrapped by an older master key. */
  readonly master: number;
  /** Records still indexed by an older index key. */
  readonly index: number;
  /** Short-lived rows (codes, used signatures, nonces, quotas) made with an older index key: they expire in two days. */
  readonly fading: number;
  /** Older keys that nothing rests on any more, as master:ID or index:ID: they may leave the ring. */
  readonly unused: readonly string[];
  /** Records that could not be opened and stay as they are: tampered with, or under a key that is not in the ring. */
  readonly refused: number;
}

export interface RotateOptions {
  /** Records of one transaction, 100 if left out. */
  readonly batch?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface CheckOptions {
  /** Takes what is there for right from now on: after a tampered database was looked into and damaged links erased. */
  readonly accept?: boolean | undefined;
}

export interface CheckResult {
  readonly links: number;
  /**
   * How often links were changed. It only ever grows: a smaller number than was seen before says that the whole database
   * was put back to an older state.
   */
  readonly changes: number;
}

export interface PhoneRegistry {
  readonly kind: "sqlite" | "postgres";
  /**
   * Links a number to a wallet, unverified until the number is proven.
   * @throws RegistryError INVALID_REQUEST, SIGNATURE_INVALID (or what the checks throw), SIGNATURE_REPLAYED,
   *   LINK_OUTDATED, CODES_LIMITED
   */
  link(request: LinkRequest): Promise<LinkResult>;
  /** @throws RegistryError INVALID_REQUEST, CODE_WRONG, CODE_EXPIRED, CODE_EXHAUSTED, CODES_LIMITED, LINK_OUTDATED */
  verify(request: VerifyRequest): Promise<VerifyResult>;
  /**
   * The same work for a number that is known and one that is not.
   * @throws RegistryError INVALID_REQUEST, LOOKUPS_LIMITED, RECORD_TAMPERED
   */
  resolve(request: ResolveRequest): Promise<Mapping | undefined>;
  /**
   * @throws RegistryError INVALID_REQUEST, SIGNATURE_INVALID (or what the checks throw), SIGNATURE_REPLAYED, NOT_LINKED,
   *   LINK_OUTDATED, CODES_LIMITED
   */
  unlink(request: UnlinkRequest): Promise<void>;
  /** Forgets a number: on its owner's request, which the operator has checked. */
  erase(request: EraseRequest): Promise<Erased>;
  /** Uses up the nonce of a signed request. @throws RegistryError INVALID_REQUEST, NONCE_REFUSED */
  useNonce(use: NonceUse): Promise<void>;
  /** Brings all records under the current keys, in batches, while serving. Goes on where it was stopped. */
  rotate(options?: RotateOptions): Promise<RotationState>;
  rotation(): Promise<RotationState>;
  /** Forgets what is over: codes, links that were not proven, expired links, used nonces, quotas, old audit entries. */
  sweep(): Promise<void>;
  /**
   * Looks at all links at once: none was taken away, brought back or put back to an older version behind the registry's
   * back. `sweep` does it every hour. Nobody waits for it.
   * @throws RegistryError RECORD_TAMPERED
   */
  check(options?: CheckOptions): Promise<CheckResult>;
  /** @throws DatabaseError STORE_UNAVAILABLE */
  ping(): Promise<void>;
  close(): Promise<void>;
}
