// A client in a separate process. It pays for the given URLs in order, and kills itself at the given stage, so that no
// part of it keeps running.
import { wrapFetch } from "@sotto/client";
import { SqliteStore } from "@sotto/client/sqlite";
import { SottoError } from "@sotto/protocol";
import { openWallet, type WorldPlace } from "../../world/wallets.ts";

export interface ClientTask {
  readonly world: WorldPlace;
  readonly seed: string;
  readonly store: string;
  readonly urls: readonly string[];
  readonly maxPerRequest: string;
  /** Stage of the last URL's payment at which the client dies; "answered": after the server has answered the proof. */
  readonly dieAt?: string;
}

export interface ClientReport {
  /** The body of each response, or the error's code. */
  readonly answers: string[];
}

const die = () => process.kill(process.pid, "SIGKILL");

process.once("message", async (task: ClientTask) => {
  const { world, urls, dieAt } = task;
  const store = new SqliteStore(task.store);
  const wallet = await openWallet(world, { seed: Buffer.from(task.seed, "hex"), store });
  const answers: string[] = [];
  for (const [index, url] of urls.entries()) {
    const last = index === urls.length - 1;
    const send: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      const proof = new Headers(init?.headers).has("x-payment-proof");
      if (last && proof && dieAt === "answered") die();
      return response;
    };
    const pay = wrapFetch(send, wallet, {
      services: [world.serviceUrl],
      maxPerRequest: BigInt(task.maxPerRequest),
      onProgress: ({ stage }) => void (last && stage === dieAt && die()),
    });
    try {
      answers.push(await (await pay(url)).text());
    } catch (error) {
      answers.push(error instanceof SottoError ? error.code : String(error));
    }
  }
  process.send?.({ answers } satisfies ClientReport, () => process.exit(0));
});
process.once("disconnect", () => process.exit(0));
