/**
 * The proofs that wait for a worker. Clients take turns, one proof each, and clients with failed proofs wait behind those
 * without. They get a turn now and then, because one of them can be a merchant's server, with many payers. Their proofs share
 * no batch, because an invalid proof makes the batch fail, and each proof must be checked again.
 */
import { BATCH_SIZE } from "./batch.ts";
import type { Failures } from "./failures.ts";
import type { Job } from "./thread.ts";

/**
 * Maximum proofs per batch of clients with failed proofs. Proofs of other clients arrive while a worker verifies this batch, and
 * wait for it.
 */
const SUSPECT_BATCH_SIZE = 2;
/** Maximum batches of clients without failed proofs, one after the other, while clients with failed proofs wait. */
const TRUSTED_BATCHES = 4;

interface Client {
  readonly name: string;
  readonly jobs: Job[];
}

export class FairQueue {
  readonly #failures: Pick<Failures, "has">;
  readonly #maxLength: number;
  /** Jobs of workers that died. Each runs alone, before all others, so that a job that kills workers is found at once. */
  readonly #again: Job[] = [];
  /** Clients with waiting jobs, the next one first. */
  readonly #clients = new Map<string, Client>();
  #length = 0;
  /** Batches taken before clients with failed proofs, since they last had their turn. */
  #trustedBatches = 0;

  /** @param maxLength jobs; jobs that are put back do not count */
  constructor(failures: Pick<Failures, "has">, maxLength: number) {
    this.#failures = failures;
    this.#maxLength = maxLength;
  }

  get length(): number {
    return this.#length + this.#again.length;
  }

  /** How many jobs wait of clients with failed proofs, and how many of others. Jobs that were put back belong to the others. */
  get waiting(): { readonly trusted: number; readonly suspect: number } {
    const [, clients] = this.#byTrust();
    const suspect = clients.reduce((sum, { jobs }) => sum + jobs.length, 0);
    return { trusted: this.length - suspect, suspect };
  }

  /**
   * Adds a job. If the queue is full, it removes the last job of the client with the most jobs: of the clients with failed
   * proofs, or of all clients if those have none.
   * @returns the job that was removed, which can be the added job
   */
  add(job: Job): Job | undefined {
    const client = this.#clients.get(job.client) ?? { name: job.client, jobs: [] };
    this.#clients.set(job.client, client);
    client.jobs.push(job);
    this.#length += 1;
    return this.#length > this.#maxLength ? this.#removeFromLongest(client) : undefined;
  }

  /** Puts back a job whose worker died. */
  putBack(job: Job): void {
    this.#again.unshift(job);
  }

  /** Takes the next batch for one of `workers` idle workers, which share what waits. */
  take(workers: number): Job[] {
    if (this.#again.length > 0) return this.#again.splice(0, 1);
    const [trusted, suspect] = this.#byTrust();
    const isTrusted = trusted.length > 0 && (suspect.length === 0 || this.#trustedBatches < TRUSTED_BATCHES);
    this.#trustedBatches = isTrusted && suspect.length > 0 ? this.#trustedBatches + 1 : 0;
    const [clients, maxSize] = isTrusted ? [trusted, BATCH_SIZE] : [suspect, SUSPECT_BATCH_SIZE];
    const waiting = clients.reduce((sum, { jobs }) => sum + jobs.length, 0);
    const count = Math.min(Math.ceil(waiting / workers), maxSize);
    const taken: Job[] = [];
    for (let turn = 0; taken.length < count; turn += 1) {
      const client = clients[turn % clients.length]!;
      const job = client.jobs.shift();
      if (job === undefined) continue;
      taken.push(job);
      // The client moves to the end of the order.
      this.#clients.delete(client.name);
      if (client.jobs.length > 0) this.#clients.set(client.name, client);
    }
    this.#length -= taken.length;
    return taken;
  }

  /** Removes all jobs. */
  clear(): Job[] {
    const all = [...this.#again.splice(0), ...Array.from(this.#clients.values(), ({ jobs }) => jobs).flat()];
    this.#clients.clear();
    this.#length = 0;
    return all;
  }

  #byTrust(): [trusted: Client[], suspect: Client[]] {
    const trusted: Client[] = [];
    const suspect: Client[] = [];
    for (const client of this.#clients.values()) (this.#failures.has(client.name) ? suspect : trusted).push(client);
    return [trusted, suspect];
  }

  /** @param adding the client of the last job; it is removed from among equals */
  #removeFromLongest(adding: Client): Job {
    const [trusted, suspect] = this.#byTrust();
    const clients = suspect.length > 0 ? suspect : trusted;
    const start = clients.includes(adding) ? adding : clients[0]!;
    const longest = clients.reduce((most, client) => (client.jobs.length > most.jobs.length ? client : most), start);
    const removed = longest.jobs.pop()!;
    if (longest.jobs.length === 0) this.#clients.delete(longest.name);
    this.#length -= 1;
    return removed;
  }
}
