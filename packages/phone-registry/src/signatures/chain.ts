import { type EthCall, readBody } from "@sotto/protocol";
import { PhoneError } from "../errors.ts";

/** More than deploying and asking any wallet costs, and little enough that a node answers at once. */
const GAS = "0x989680";
/** An address may lead to another node tomorrow. */
const TRUST_MS = 60_000;
/** Bytes. */
const LARGEST_ANSWER = 1 << 20;
/** The validator's answer for a signature that is not accepted. */
const REFUSED = `0x${"00".repeat(32)}`;
/** How nodes say that the call itself failed: what a wallet does with a signature is its own affair. */
const EXECUTION =
  /revert|out of gas|gas required exceeds|invalid opcode|invalid jump|stack|VM Exception|initcode|intrinsic gas/i;

export interface ChainOptions {
  /** JSON-RPC nodes, in order of preference. */
  readonly urls: readonly string[];
  readonly chainId: bigint;
  /** For one question, ms. */
  readonly timeout: number;
  /** Now, ms. */
  readonly clock?: (() => number) | undefined;
}

interface RpcError {
  readonly code?: unknown;
  readonly message?: unknown;
}

/**
 * Asks the chain about a contract wallet's signature; the next node where one is away. A call that reverts or runs out
 * of gas has not accepted anything.
 */
export function chainCall({ urls, chainId, timeout, clock = Date.now }: ChainOptions): EthCall {
  const trusted = new Map<string, number>();
  return async ({ to, data }) => {
    let cause: unknown;
    for (const url of urls)
      try {
        if ((trusted.get(url) ?? 0) <= clock()) {
          await expectChain(url, chainId, timeout);
          trusted.set(url, clock() + TRUST_MS);
        }
        const call = { ...(to === undefined ? {} : { to }), data, gas: GAS };
        return await ask(url, "eth_call", [call, "latest"], timeout);
      } catch (error) {
        if (error instanceof ExecutionError) return REFUSED;
        trusted.delete(url);
        cause = error;
      }
    throw new PhoneError("CHAIN_UNAVAILABLE", "no node of the chain answers; try again", {}, { cause });
  };
}

/** @throws PhoneError WRONG_CHAIN, Error where it does not answer */
export async function expectChain(url: string, chainId: bigint, timeout: number): Promise<void> {
  const found = await ask(url, "eth_chainId", [], timeout);
  if (!/^0x[0-9a-f]{1,64}$/i.test(found) || BigInt(found) !== chainId)
    throw new PhoneError("WRONG_CHAIN", `a node is not on chain ${chainId}`);
}

class ExecutionError extends Error {}

async function ask(url: string, method: string, params: readonly unknown[], timeout: number): Promise<string> {
  const signal = AbortSignal.timeout(timeout);
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    signal,
    redirect: "error",
  });
  const text = new TextDecoder().decode(await readBody(response, LARGEST_ANSWER, signal));
  const { result, error } = JSON.parse(text) as { result?: unknown; error?: RpcError };
  if (error) {
    const { code, message } = error;
    if (code === 3 || EXECUTION.test(String(message ?? ""))) throw new ExecutionError("the call failed");
    throw new Error(`the node answers with error ${String(code)}`);
  }
  if (typeof result !== "string" || !/^0x[0-9a-f]*$/i.test(result)) throw new Error("the node gives no result");
  return result.toLowerCase();
}
