import { CallReverted, RpcErrorResponse } from "../errors.ts";
import type { Failover } from "./failover.ts";
import { isKnownTransaction, isRefusedTransaction } from "./responses.ts";

/** After a refusal the other nodes have this part of a request's time to accept. */
const GRACE_PART = 10;

export interface Broadcast {
  /** Whether a node took the transaction or had it already. */
  readonly accepted: boolean;
  /** Why no node took it, in the words of the last node that refused. */
  readonly refusal?: string | undefined;
}

/**
 * Hands a signed transaction to every node. The first acceptance ends the wait, and a node that hangs does not prolong
 * it; the transaction goes to all of them in any case.
 */
export function broadcast(nodes: Failover, raw: string): Promise<Broadcast> {
  return new Promise((resolve) => {
    let refusal: string | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (result: Broadcast) => {
      clearTimeout(timer);
      resolve(result);
    };
    const answers = nodes.start("all", async (node) => {
      const refused = await node.ask("eth_sendRawTransaction", [raw]).then(() => undefined, refusalOf);
      if (refused === undefined) return end({ accepted: true });
      refusal = refused;
      timer ??= setTimeout(() => end({ accepted: false, refusal }), nodes.timeoutMs / GRACE_PART);
    });
    void Promise.allSettled(answers).then(() => end({ accepted: false, refusal: refusal ?? "no node answers" }));
  });
}

/** @returns why a node refuses a transaction; undefined if the node has it. @throws the node's fault */
function refusalOf(error: unknown): string | undefined {
  // Nodes that mine at once report what the transaction did, not that they took it.
  if (error instanceof CallReverted) return undefined;
  if (!(error instanceof RpcErrorResponse)) throw error;
  if (isKnownTransaction(error.text)) return undefined;
  if (isRefusedTransaction(error.text)) return error.text;
  throw error;
}
