import { type ChainSource, inconsistent, useNode } from "./source.ts";

/** Encodes calls of a contract and decodes their results: an Interface of ethers, for example. */
export interface AbiCodec<Value> {
  /** The calldata of a call, hex. */
  encodeFunctionData(name: string, values: readonly unknown[]): string;
  /** The values that a call returned; `data` is hex. */
  decodeFunctionResult(name: string, data: string): ArrayLike<Value>;
}

/** A call of a view function of a contract. */
export interface ContractRead<Value> {
  /** Must know the function `name`. */
  readonly abi: AbiCodec<Value>;
  /** The contract, 20 bytes, hex with 0x. */
  readonly to: string;
  /** A view function that returns at least one value. */
  readonly name: string;
  /** Arguments, in the order of the ABI. */
  readonly values: readonly unknown[];
}

/**
 * The first value that a function of a contract returns, from any source.
 * @throws CallReverted; ChainError NODE_INCONSISTENT if the result does not fit the ABI
 */
export function readContract<Value>(
  source: ChainSource,
  { abi, to, name, values }: ContractRead<Value>,
  block?: number,
): Promise<Value> {
  const data = abi.encodeFunctionData(name, values);
  return useNode(source, async (node) => decodeResult(node, abi, name, await node.call({ to, data }, block)));
}

/** A contract's result always matches its ABI, so a node that returns anything else is at fault. */
export function decodeResult<Value>(node: ChainSource, abi: AbiCodec<Value>, name: string, result: string): Value {
  let decoded: ArrayLike<Value>;
  try {
    decoded = abi.decodeFunctionResult(name, result);
  } catch (cause) {
    throw inconsistent(node, `returned ${result.length / 2 - 1} bytes that are not a result of ${name}`, cause);
  }
  return decoded[0] as Value;
}
