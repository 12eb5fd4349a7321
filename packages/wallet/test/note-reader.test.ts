import {
  type DeliveredNote,
  deriveKeys,
  encryptAmount,
  hintOf,
  noteCommitment,
  noteSecrets,
  scanNotes,
} from "@sotto/protocol";
import { NoteReader } from "@sotto/wallet";
import { expect } from "chai";
import { startThreads } from "../src/scan/threads.ts";

const pool = { chainId: 31337n, pool: `0x${"5a".repeat(20)}` };
const own = deriveKeys(new Uint8Array(32).fill(1), pool);
const other = deriveKeys(new Uint8Array(32).fill(2), pool);
const viewer = { viewingKeys: [own.viewingKey], ownerTag: own.ownerTag(0) };

function deliver(keys: typeof own, amount: bigint): DeliveredNote {
  const { R, S } = encryptAmount(keys.encryptionKey, amount, amount + 1n);
  const { blinding, pad } = noteSecrets(S.x, R.x);
  const recipientCommitment = noteCommitment({ amount, ownerTag: keys.ownerTag(0), blinding });
  return { ephemeralX: R.x, amountHint: hintOf(pad, amount), recipientCommitment };
}

/** Enough notes for the kernel and for threads, 10 of them the viewer's. Others' notes repeat, because making one is slow. */
const COUNT = 4_200;
const OTHERS = Array.from({ length: 20 }, (_, i) => deliver(other, BigInt(i)));
const notes = Array.from({ length: COUNT }, (_, i) =>
  i % 420 === 7 ? deliver(own, BigInt(i)) : OTHERS[i % OTHERS.length]!,
);
const amounts = (found: Awaited<ReturnType<NoteReader["read"]>>) =>
  found.flatMap((note, i) => (note === null ? [] : [[i, Number(note.amount)]]));
const expected = Array.from({ length: 10 }, (_, i) => [420 * i + 7, 420 * i + 7]);

describe("reading notes with the kernel and threads", () => {
  let reader: NoteReader;
  afterEach(() => reader.close());

  it("has the results of scanNotes, in the order of the notes", async () => {
    reader = new NoteReader();
    const found = await reader.read(viewer, notes);
    expect(amounts(found)).to.deep.equal(expected);
    expect(found.slice(0, 50)).to.deep.equal(scanNotes(viewer, notes.slice(0, 50)));
    expect(amounts(await reader.read(viewer, notes.slice(0, 8)))).to.deep.equal([[7, 7]]);
    expect(await reader.read(viewer, [])).to.deep.equal([]);
  });

  it("has the same results if its threads end before or while they work", async () => {
    for (const delay of [0, 20]) {
      reader = new NoteReader(() => {
        const threads = startThreads();
        const end = () => {
          for (const thread of threads) thread.end();
        };
        if (delay === 0) end();
        else setTimeout(end, delay);
        return threads;
      });
      expect(amounts(await reader.read(viewer, notes))).to.deep.equal(expected);
      reader.close();
    }
  });

  it("has the same results without threads", async () => {
    reader = new NoteReader(() => []);
    expect(amounts(await reader.read(viewer, notes))).to.deep.equal(expected);
  });

  it("does other work while threads decrypt", async () => {
    reader = new NoteReader();
    let parts = 0;
    const found = await reader.read(viewer, notes, () => {
      parts += 1;
      return parts < 3;
    });
    expect(amounts(found)).to.deep.equal(expected);
    const threads = startThreads();
    for (const thread of threads) thread.end();
    expect(parts).to.equal(threads.length > 0 ? 3 : 0);
  });

  it("reports invalid keys and notes like scanNotes", async () => {
    reader = new NoteReader();
    const code = (promise: Promise<unknown>) => promise.then(String, (error: { code: string }) => error.code);
    expect(await code(reader.read({ ...viewer, viewingKeys: [2n] }, notes))).to.equal("INVALID_KEY");
    const invalid = [...notes, { ...notes[0]!, ephemeralX: -1n }];
    expect(await code(reader.read(viewer, invalid))).to.equal("INVALID_FIELD_ELEMENT");
  });

  it("ends its threads, which have the viewing key, when it is closed", async () => {
    let threads: ReturnType<typeof startThreads> = [];
    reader = new NoteReader(() => {
      threads = startThreads();
      return threads;
    });
    await reader.read(viewer, notes);
    reader.close();
    for (const thread of threads) {
      const answer = await thread.decrypt(viewer, notes.slice(0, 1)).catch((error: Error) => error.message);
      expect(answer).to.equal("the thread ended");
    }
  });
});
