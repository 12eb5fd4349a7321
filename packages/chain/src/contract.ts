import { type ChainSource, inconsistent, useNode } from "./source.ts";

/** Encodes calls of a contract and decodes their results: an Interface of ethers, for example. */
export interface AbiCodec<Value> {
  encodeFunctionData(name: string, values: readonly unknown[]): string;
  decodeFunctionResult(name: string, data: string): ArrayLike<Value>;
}

/** A question to a function of a contract. */
export interface ContractQuestion<Value> {
  readonly abi: AbiCodec<Value>;
  readonly to: string;
  readonly name: string;
  readonly values: readonly unknown[];
}

/**
 * The first value that a function of a contract returns, from any source.
 * @throws CallReverted; ChainError NODE_INCONSISTENT if the result does not fit the ABI
 */
export function readContract<Value>(
  source: ChainSource,
  { abi, to, name, values }: ContractQuestion<Value>,
  block?: number,
): Promise<Value> {
  const data = abi.encodeFunctionData(name, values);
  return useNode(source, async (node) => decodeResult(node, abi, name, await node.call({ to, data }, block)));
}

/** A contract's answer always has the form its ABI says: a node that gives another one is at fault. */
export function decodeResult<Value>(node: ChainSource, abi: AbiCodec<Value>, name: string, result: string): Value {
  let decoded: ArrayLike<Value>;
  try {
    decoded = abi.decodeFunctionResult(name, result);
  } catch (cause) {
    throw inconsistent(node, `gives ${result.length / 2 - 1} bytes that are not a result of ${name}`, cause);
  }
  return decoded[0] as Value;
}
