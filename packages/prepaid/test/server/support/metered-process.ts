// A server with metered credit in a process of its own: it serves the requests of its order, and kills itself when it answers a
// claim.
import { deserialize } from "node:v8";
import { PREPAID_CHANGE_PATH, type SignedMeteredTerms } from "../../../src/index.ts";
import { type Merchant, openServer } from "./merchant.ts";
import { meteredOptions, type Owned, post, spendMetered } from "./metered.ts";

/** What the process does before it dies. */
export interface DyingOrder {
  readonly merchant: Merchant;
  readonly terms: readonly SignedMeteredTerms[];
  /** URL of the store. */
  readonly store: string;
  /** Path of the guard's file. */
  readonly guard: string;
  readonly tokens: readonly Owned[];
  /** The body of the claim of the last token. */
  readonly claim: string;
  /** When it dies: before the claim is committed, or after that and before the answer. */
  readonly dies: "claiming" | "claimed";
}

const order = deserialize(Buffer.from(process.env["DYING_ORDER"]!, "base64")) as DyingOrder;
const die = (): Promise<never> => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
};

const server = await openServer(meteredOptions(order.merchant, order.store, order.guard, order.terms));
for (const [i, token] of order.tokens.entries()) await spendMetered(server, token, { input: 700 * i });
// Charges are stored in the background.
while (server.events.filter(({ event }) => event === "charged").length < order.tokens.length)
  await new Promise((resolve) => setTimeout(resolve, 5));
const { commits } = server.prepaid;
const { claim } = commits;
commits.claim = async (action) => {
  if (order.dies === "claiming") return die();
  await claim.call(commits, action);
  return die();
};
await post(server, PREPAID_CHANGE_PATH, order.claim);
