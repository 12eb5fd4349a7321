import { type DBSchema, openDB } from "idb";
import type { ArtifactCache } from "./cache.ts";

interface Schema extends DBSchema {
  /** Complete files, by name. */
  files: { key: string; value: Uint8Array };
  /** Bytes of incomplete downloads, by name and offset. */
  parts: { key: [name: string, offset: number]; value: Uint8Array };
}

/**
 * A cache in the browser's IndexedDB. All wallets of an origin can share it.
 * @param location name of the database
 */
export function indexedDbCache(location = "sotto-artifacts"): ArtifactCache {
  const open = () =>
    openDB<Schema>(location, 1, {
      upgrade(db) {
        db.createObjectStore("files");
        db.createObjectStore("parts");
      },
    });
  /** Opens one connection for each action, so that the browser can clear the database at any time. */
  const using = async <T>(action: (database: Awaited<ReturnType<typeof open>>) => Promise<T>): Promise<T> => {
    const database = await open();
    try {
      return await action(database);
    } finally {
      database.close();
    }
  };
  const partsOf = (name: string) => IDBKeyRange.bound([name, 0], [name, Number.MAX_SAFE_INTEGER]);
  return {
    location,
    read: (name, maxBytes) =>
      using(async (database) => {
        const bytes = await database.get("files", name);
        return bytes !== undefined && bytes.length <= maxBytes ? bytes : undefined;
      }),
    write: (name, bytes) =>
      using(async (database) => {
        const transaction = database.transaction(["files", "parts"], "readwrite");
        await Promise.all([
          // Copies the bytes, because a view would be stored with its whole buffer.
          transaction.objectStore("files").put(bytes.slice(), name),
          transaction.objectStore("parts").delete(partsOf(name)),
          transaction.done,
        ]);
      }),
    remove: (name) =>
      using(async (database) => {
        const transaction = database.transaction(["files", "parts"], "readwrite");
        await Promise.all([
          transaction.objectStore("files").delete(name),
          transaction.objectStore("parts").delete(partsOf(name)),
          transaction.done,
        ]);
      }),
    readPart: (name, maxBytes) =>
      using(async (database) => {
        const transaction = database.transaction("parts");
        const [keys, values] = await Promise.all([
          transaction.store.getAllKeys(partsOf(name)),
          transaction.store.getAll(partsOf(name)),
        ]);
        return join(
          values.map((bytes, i) => ({ offset: keys[i]?.[1] ?? 0, bytes })),
          maxBytes,
        );
      }),
    writePart: (name, offset, bytes) =>
      using(async (database) => {
        await database.put("parts", bytes.slice(), [name, offset]);
      }),
  };
}

interface Piece {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Joins pieces in order of offset, up to the first gap. Pieces of two downloads may overlap. */
function join(pieces: readonly Piece[], maxBytes: number): Uint8Array | undefined {
  const end = pieces.reduce((length, { offset, bytes }) => {
    return offset <= length ? Math.max(length, offset + bytes.length) : length;
  }, 0);
  if (end === 0 || end > maxBytes) return undefined;
  const joined = new Uint8Array(end);
  for (const { offset, bytes } of pieces) if (offset < end) joined.set(bytes, offset);
  return joined;
}
