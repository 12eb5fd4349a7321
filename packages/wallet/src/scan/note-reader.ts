import { type DeliveredNote, type ReceivedNote, type ScanKernel, scanNotes, type Viewer } from "@sotto/protocol";
import { createScanKernel } from "@sotto/prover/scan";
import { type ScanThread, startThreads } from "./threads.ts";

/** Number of notes that are decrypted together, at most and at least; and of notes times keys, at most: tens of milliseconds. */
const [MAX_CHUNK, MIN_CHUNK, MAX_TRIALS] = [256, 32, 512];
/** Chunks that a thread has at a time, so that it has the next one when it finishes one. */
const PER_THREAD = 2;
/** Number of notes of a scan from which on it is worth compiling the kernel, and starting other threads. */
const [KERNEL_MIN, THREADS_MIN] = [1_024, 4_096];

interface Scheduling {
  scheduler?: { yield?(): Promise<void> };
  setImmediate?(resolve: () => void): void;
}

/** Lets other tasks run. Browsers delay repeated timers by 4 ms, so a timer is the last choice. */
function turn(): Promise<void> {
  const { scheduler, setImmediate: immediate } = globalThis as Scheduling;
  if (scheduler?.yield !== undefined) return scheduler.yield();
  return new Promise((resolve) => (immediate === undefined ? setTimeout(resolve) : immediate(resolve)));
}

type Decrypted = readonly (ReceivedNote | null)[];

/**
 * Decrypts delivered notes with the fast kernel and, if there are many, with other threads. It has the same results as
 * `scanNotes`, which it uses on machines that lack what the kernel needs.
 */
export class NoteReader {
  #kernel: Promise<ScanKernel | undefined> | undefined;
  #threads: readonly ScanThread[] | undefined;
  #count = 0;
  readonly #start: () => readonly ScanThread[];

  constructor(start: () => readonly ScanThread[] = startThreads) {
    this.#start = start;
  }

  /**
   * Decrypts delivered notes in this thread and the others.
   * @param meanwhile does a short part of other work; this thread calls it while the other threads decrypt, until it returns
   *   false
   * @returns at index i the note of `notes[i]`, or null if that is not for this viewer
   */
  async read(
    viewer: Viewer,
    notes: readonly DeliveredNote[],
    meanwhile: () => boolean = () => false,
  ): Promise<(ReceivedNote | null)[]> {
    if (viewer.viewingKeys.length === 0) return notes.map(() => null);
    const results: (ReceivedNote | null)[] = new Array(notes.length).fill(null);
    const keys = viewer.viewingKeys.length;
    this.#count += notes.length * keys;
    if (this.#count >= THREADS_MIN) this.#threads ??= this.#start();
    const threads = this.#threads ?? [];
    const share = Math.ceil(notes.length / (PER_THREAD * (threads.length + 1)));
    const most = Math.max(1, Math.min(MAX_CHUNK, Math.floor(MAX_TRIALS / keys)));
    const size = Math.min(most, Math.max(MIN_CHUNK, share));
    const chunks = Array.from({ length: Math.ceil(notes.length / size) }, (_, i) => i * size);
    const take = async (decrypt: (part: DeliveredNote[]) => Decrypted | Promise<Decrypted>) => {
      for (let first = chunks.shift(); first !== undefined; first = chunks.shift()) {
        try {
          const found = await decrypt(notes.slice(first, first + size));
          for (const [i, note] of found.entries()) results[first + i] = note;
        } catch (error) {
          chunks.push(first);
          throw error;
        }
        // Yields between chunks, so that a browser page does not freeze and other threads get their next chunk.
        if (chunks.length > 0) await turn();
      }
    };
    if (this.#count >= KERNEL_MIN) this.#kernel ??= createScanKernel();
    const kernel = await this.#kernel;
    const here = (part: DeliveredNote[]) => scanNotes(viewer, part, kernel);
    // If a thread fails, this one decrypts its chunk: a failure changes only how long the scan takes.
    const others = threads.flatMap((thread) =>
      Array.from({ length: PER_THREAD }, () => take((part) => thread.decrypt(viewer, part)).catch(() => thread.end())),
    );
    while (threads.length > 0 && chunks.length > 0 && meanwhile()) await turn();
    await take(here);
    await Promise.all(others);
    await take(here);
    return results;
  }

  /** Ends the other threads, and with them their copies of the viewing keys. */
  close(): void {
    for (const thread of this.#threads ?? []) thread.end();
    this.#threads = undefined;
  }
}
