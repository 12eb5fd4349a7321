// Reads listings in a worker thread, so that no listing delays the service or takes longer than the deadline.
import { Worker } from "node:worker_threads";
import type { ListingKey } from "../store/index.ts";
import type { ServedDeployment } from "../x402/request.ts";
import type { HostAnswer } from "./host.ts";
import type { Listing } from "./listing.ts";
import { NotListed } from "./listing-key.ts";

export type ReaderRequest = { readonly due: ListingKey; readonly answer: HostAnswer } | { readonly item: string };
export interface ReaderReply {
  readonly listing?: Listing;
  readonly notListed?: string;
}

/** Reads one listing at a time; others wait. */
export interface ListingReader {
  /** As `readListing`. @throws NotListed, also if the listing cannot be read in time */
  read(due: ListingKey, answer: HostAnswer): Promise<Listing>;
  /** @throws NotListed, also if the item cannot be checked in time */
  assertListed(item: string): Promise<void>;
  /** Ends the worker, even while it reads. What it has not read rejects. */
  close(): Promise<void>;
}

/** Deadline of one listing, ms. Reading takes a few milliseconds, and longer on a busy machine. */
const DEADLINE_MS = 5_000;
/** Maximum heap of the worker, MB. Its modules take about 20. */
const HEAP_MB = 96;

export interface ReaderParts {
  readonly served: ServedDeployment;
  /** Starts a worker with this data; for tests. */
  readonly startWorker?: (data: ServedDeployment) => Worker;
  readonly deadlineMs?: number;
}

/** The worker starts with the first listing, and again after one that it did not read. */
export function openListingReader({
  served: { config, facts },
  startWorker = startOwn,
  deadlineMs = DEADLINE_MS,
}: ReaderParts): ListingReader {
  // Only what the worker needs, because the configuration contains the relayer's key.
  const { chainId, pool, publicUrl } = config;
  const data = { config: { chainId, pool, publicUrl }, facts: { token: facts.token, decimals: facts.decimals } };
  let worker: { readonly thread: Worker; readonly ready: Promise<unknown> } | undefined;
  let closed = false;
  let last: Promise<unknown> = Promise.resolve();

  function start(): NonNullable<typeof worker> {
    const thread = startWorker(data);
    const ready = new Promise((resolve, reject) => {
      thread.once("message", resolve);
      thread.on("error", reject);
      thread.once("exit", () => {
        if (worker?.thread === thread) worker = undefined;
        reject(new Error("the worker that reads listings ended"));
      });
    });
    return { thread, ready };
  }

  async function ask(request: ReaderRequest): Promise<ReaderReply> {
    if (closed) throw new Error("the service is shutting down");
    worker ??= start();
    const { thread, ready } = worker;
    await ready;
    const reply = await replyOf(thread, request, deadlineMs);
    if (reply !== undefined) return reply;
    await thread.terminate();
    if (closed) throw new Error("the service is shutting down");
    return { notListed: "the listing could not be read within the limits of time and memory" };
  }

  async function inTurn(request: ReaderRequest): Promise<ReaderReply> {
    const turn = last.then(() => ask(request));
    last = turn.catch(() => {});
    const reply = await turn;
    if (reply.notListed !== undefined) throw new NotListed(reply.notListed);
    return reply;
  }

  return {
    async read(due, answer) {
      const { listing } = await inTurn({ due, answer });
      return listing!;
    },
    async assertListed(item) {
      await inTurn({ item });
    },
    async close() {
      closed = true;
      await worker?.thread.terminate();
      await last;
    },
  };
}

/** @returns undefined if the worker ended, or did not reply in time */
function replyOf(worker: Worker, request: ReaderRequest, deadlineMs: number): Promise<ReaderReply | undefined> {
  return new Promise((resolve) => {
    const end = (reply: ReaderReply | undefined) => {
      clearTimeout(timer);
      worker.off("message", end);
      worker.off("exit", ended);
      worker.unref();
      resolve(reply);
    };
    const ended = () => end(undefined);
    const timer = setTimeout(ended, deadlineMs);
    worker.once("message", end);
    worker.once("exit", ended);
    worker.ref();
    worker.postMessage(request);
  });
}

function startOwn(workerData: ServedDeployment): Worker {
  // This file may run as TypeScript (type stripping) or compiled.
  const file = import.meta.url.endsWith(".ts") ? "./reader-worker.ts" : "./reader-worker.js";
  // An empty environment, because the parent's contains the relayer's key.
  return new Worker(new URL(file, import.meta.url), {
    workerData,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  });
}
