import { CallReverted, ChainError, RpcErrorResponse } from "../errors.ts";
import type { Failover } from "./failover.ts";
import { isKnownTransaction, isRefusedTransaction, lowestTip } from "./responses.ts";

/** After a refusal the other nodes have a tenth of the request timeout to accept. */
const GRACE_PART = 10;

/** Whether the nodes accepted a transaction. */
export interface Broadcast {
  /** Whether a node accepted the transaction or had it already. */
  readonly accepted: boolean;
  /** The message of the last node that refused it, if no node accepted it; if none refused it, the fault of the last node. */
  readonly refusal?: string | undefined;
  /** The lowest priority fee per gas in wei that a node would accept, if it refused the transaction for a lower one. */
  readonly lowestTip?: bigint | undefined;
}

/**
 * Sends a signed transaction to every node and resolves as soon as one accepts it. After the first refusal it no longer
 * waits for nodes that hang.
 */
export function broadcast(nodes: Failover, raw: string): Promise<Broadcast> {
  return new Promise((resolve) => {
    let refusal: string | undefined;
    let fault = "no node responded";
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (result: Broadcast) => {
      clearTimeout(timer);
      resolve(result);
    };
    const refuse = () => {
      const lowest = refusal === undefined ? undefined : lowestTip(refusal);
      end({ accepted: false, refusal: refusal ?? fault, ...(lowest === undefined ? {} : { lowestTip: lowest }) });
    };
    const answers = nodes.all(async (node) => {
      const refused = await node.ask("eth_sendRawTransaction", [raw]).then(() => undefined, refusalOf);
      if (refused === undefined) return end({ accepted: true });
      refusal = refused;
      timer ??= setTimeout(refuse, nodes.timeoutMs / GRACE_PART);
    });
    void Promise.allSettled(answers.values()).then((results) => {
      const faults = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
      fault = faults.findLast((error) => error instanceof ChainError)?.message ?? fault;
      refuse();
    });
  });
}

/** @returns why a node refuses a transaction; undefined if the node has it. @throws the node's fault */
function refusalOf(error: unknown): string | undefined {
  // A node that mines immediately reports the revert of the transaction, so it has accepted it.
  if (error instanceof CallReverted) return undefined;
  if (!(error instanceof RpcErrorResponse)) throw error;
  if (isKnownTransaction(error.text)) return undefined;
  if (isRefusedTransaction(error.text)) return error.text;
  throw error;
}
