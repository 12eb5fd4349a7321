import type { Bytes32, PermuteMany } from "@sotto/protocol";
import { decodeBase64url, encodeBase64url } from "@sotto/protocol/extend";
import type { Store, StoreChange } from "@sotto/wallet";
import { CHUNK_BYTES } from "../core/bitmap.ts";
import { decodeHead, encodeHead, type OriginHead, type SignedHead } from "../core/head.ts";
import { decodeManifest, type ListedChunk, manifestBytes } from "../core/manifest.ts";
import { type LeafAt, MaskTree } from "../core/mask-tree.ts";
import {
  asValue,
  BITMAPS,
  bitmapPlace,
  CLAIMS,
  type ClaimRecord,
  claimPlace,
  SETS,
  type SetKey,
  type SetRecord,
  setKeyOf,
  setPlace,
} from "./records.ts";
import { SetView } from "./view.ts";

/** A set in memory: its record, and the view of its head; undefined before the first one. */
export interface BookedSet {
  readonly record: SetRecord;
  readonly view: SetView | undefined;
}

/** A head that the wallet takes. */
export interface TakenHead {
  readonly signed: SignedHead;
  readonly manifest: Uint8Array;
  readonly view: SetView;
  /** Claims that change with it. */
  readonly claims: readonly ClaimRecord[];
}

/** The sets and claims of a wallet, in memory as they are in its store. */
export class Book {
  readonly #store: Store;
  readonly #leafAt: LeafAt;
  readonly #permutation: PermuteMany | undefined;
  readonly #sets = new Map<string, BookedSet>();
  readonly #claims = new Map<string, ClaimRecord>();
  /** The chunks of each set that were hashed. */
  readonly #hashed = new Map<string, MaskTree>();

  private constructor(store: Store, leafAt: LeafAt, permutation: PermuteMany | undefined) {
    this.#store = store;
    this.#leafAt = leafAt;
    this.#permutation = permutation;
  }

  static async open(store: Store, leafAt: LeafAt, permutation?: PermuteMany): Promise<Book> {
    const book = new Book(store, leafAt, permutation);
    const bitmaps = new Map((await store.list(BITMAPS)).map(({ key, value }) => [key, value]));
    for (const { value } of await store.list(SETS)) {
      const record = value as unknown as SetRecord;
      book.#sets.set(setKeyOf(record), { record, view: book.#viewOf(record, bitmaps) });
    }
    for (const { key, value } of await store.list(CLAIMS)) book.#claims.set(key, value as unknown as ClaimRecord);
    return book;
  }

  /** All sets, also those that are followed no longer. */
  sets(): BookedSet[] {
    return [...this.#sets.values()];
  }

  set(key: SetKey): BookedSet | undefined {
    return this.#sets.get(setKeyOf(key));
  }

  /** The newest signed head that the curator showed; undefined before the first one. */
  seen({ seen }: SetRecord): SignedHead | undefined {
    return seen === null ? undefined : decodeHead(seen);
  }

  claim(key: SetKey, nullifier: bigint): ClaimRecord | undefined {
    return this.#claims.get(claimPlace(key, String(nullifier)));
  }

  claimsOf(key: SetKey): ClaimRecord[] {
    return [...this.#claims.values()].filter((claim) => setKeyOf(claim) === setKeyOf(key));
  }

  /** Writes a set's record, and its head with its files and the claims that it changes if there is a new one, as a whole. */
  async putSet(record: SetRecord, next?: TakenHead): Promise<void> {
    const before = this.set(record);
    const changes: StoreChange[] = [];
    const view = next?.view ?? before?.view;
    let written = record;
    if (next !== undefined) {
      written = { ...record, head: encodeHead(next.signed), manifest: encodeBase64url(next.manifest) };
      const known = this.#hashes();
      const others = this.#hashes(record);
      const hashes = new Map(next.view.chunks.map(({ hash }, i) => [hash, next.view.bitmaps[i]!]));
      for (const [hash, bitmap] of hashes)
        if (!known.has(hash)) changes.push({ put: bitmapPlace(hash), value: encodeBase64url(bitmap) });
      const old = new Set((before?.view?.chunks ?? []).map(({ hash }) => hash));
      for (const hash of old) if (!hashes.has(hash) && !others.has(hash)) changes.push({ delete: bitmapPlace(hash) });
    }
    changes.push({ put: setPlace(record), value: asValue(written) });
    const claims = next?.claims.map((claim) => ({ place: claimPlace(claim, claim.nullifier), claim })) ?? [];
    for (const { place, claim } of claims) changes.push({ put: place, value: asValue(claim) });
    await this.#store.batch(changes);
    this.#sets.set(setKeyOf(record), { record: written, view });
    for (const { place, claim } of claims) this.#claims.set(place, claim);
  }

  /** Deletes a set with its files. */
  async deleteSet(key: SetKey): Promise<void> {
    const others = this.#hashes(key);
    const gone = new Set(
      (this.set(key)?.view?.chunks ?? []).map(({ hash }) => hash).filter((hash) => !others.has(hash)),
    );
    const files = [...gone].map((hash): StoreChange => ({ delete: bitmapPlace(hash) }));
    await this.#store.batch([{ delete: setPlace(key) }, ...files]);
    this.#sets.delete(setKeyOf(key));
  }

  /** Writes a new claim. It fails if the nullifier has one. */
  async addClaim(claim: ClaimRecord): Promise<void> {
    const place = claimPlace(claim, claim.nullifier);
    await this.#store.put(place, asValue(claim), 0);
    this.#claims.set(place, claim);
  }

  /** Writes claims that exist. Their roots and proofs never change. */
  async putClaims(claims: readonly ClaimRecord[]): Promise<void> {
    const places = claims.map((claim) => ({ place: claimPlace(claim, claim.nullifier), claim }));
    await this.#store.batch(places.map(({ place, claim }) => ({ put: place, value: asValue(claim) })));
    for (const { place, claim } of places) this.#claims.set(place, claim);
  }

  /** The chunks that a manifest lists. @throws SottoError INVALID_ARGUMENT if it is not that of the head */
  chunksIn(manifest: Uint8Array, head: OriginHead): ListedChunk[] {
    return decodeManifest(manifest, head, this.#permutation);
  }

  /** A view of a head and its files. */
  createView(signed: SignedHead, chunks: readonly ListedChunk[], bitmaps: readonly Uint8Array[]): SetView {
    const key = setKeyOf(signed.head);
    const hashed = this.#hashed.get(key) ?? new MaskTree(this.#leafAt, this.#permutation);
    this.#hashed.set(key, hashed);
    return new SetView(signed, chunks, bitmaps, this.#leafAt, this.#permutation, hashed);
  }

  /** A bitmap that the wallet has. */
  bitmap(hash: Bytes32): Uint8Array | undefined {
    for (const { view } of this.#sets.values()) {
      const index = view?.chunks.findIndex((chunk) => chunk.hash === hash) ?? -1;
      if (index >= 0) return view!.bitmaps[index];
    }
    return undefined;
  }

  /** Hashes of all bitmaps in the store; those of other sets than `except`. */
  #hashes(except?: SetKey): Set<string> {
    const sets = this.sets().filter(({ record }) => except === undefined || setKeyOf(record) !== setKeyOf(except));
    return new Set(sets.flatMap(({ view }) => view?.chunks.map(({ hash }) => hash) ?? []));
  }

  #viewOf(record: SetRecord, bitmaps: ReadonlyMap<string, unknown>): SetView | undefined {
    if (record.head === null) return undefined;
    const signed = decodeHead(record.head);
    const manifest = decodeBase64url(record.manifest, manifestBytes(signed.head.leaves), "a manifest");
    const chunks = this.chunksIn(manifest, signed.head);
    const stored = chunks.map(({ hash }) => decodeBase64url(bitmaps.get(bitmapPlace(hash)), CHUNK_BYTES, "a bitmap"));
    return new SetView(signed, chunks, stored, this.#leafAt, this.#permutation);
  }
}
