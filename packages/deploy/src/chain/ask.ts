/** Sends a JSON-RPC request. @throws the provider's error */
export type Ask = (method: string, params: unknown[]) => Promise<unknown>;

/** Codes that Hardhat and nodes use if no answer exists: an unreadable response, and too many requests. */
const WITHOUT_ANSWER: readonly unknown[] = [-1, -32005];

/** Whether a node answered with a JSON-RPC error. Hardhat's error has its code, and an ethers error contains it. */
function isAnswer(error: unknown): boolean {
  const { code, error: inner, info } = Object(error) as { code?: unknown; error?: unknown; info?: { error?: unknown } };
  const found = [code, ...[inner, info?.error].map((nested) => (Object(nested) as { code?: unknown }).code)];
  return found.some((value) => typeof value === "number" && !WITHOUT_ANSWER.includes(value));
}

/** Like `ask`, but undefined if the node refuses the request. @throws the provider's error if the node does not answer */
export async function askOr(ask: Ask, method: string, params: unknown[]): Promise<unknown> {
  try {
    return await ask(method, params);
  } catch (error) {
    if (isAnswer(error)) return undefined;
    throw error;
  }
}

/** A quantity or one word as a number; undefined if it is something else. */
export function parseQuantity(value: unknown): bigint | undefined {
  return typeof value === "string" && /^0x[0-9a-f]{1,64}$/i.test(value) ? BigInt(value) : undefined;
}

/** The result of creation code, hex; undefined if it fails. Nothing is created. @param block "latest" or a block's number */
export async function run(
  ask: Ask,
  data: string,
  { block = "latest", gas }: { readonly block?: string; readonly gas?: string } = {},
): Promise<string | undefined> {
  const answer = await askOr(ask, "eth_call", [gas === undefined ? { data } : { data, gas }, block]);
  return typeof answer === "string" ? answer.toLowerCase() : undefined;
}

/** The fields of a block that the properties need; undefined if the node does not know the block. */
export interface Header {
  readonly number: bigint;
  readonly timestamp: bigint;
  readonly gasLimit: bigint;
  /** Wei; undefined on chains without EIP-1559. */
  readonly baseFee: bigint | undefined;
}

/** @param block "latest", or a block's number as a hex quantity */
export async function readHeader(ask: Ask, block: string): Promise<Header | undefined> {
  const fields = Object(await askOr(ask, "eth_getBlockByNumber", [block, false])) as Record<string, unknown>;
  const [number, timestamp, gasLimit] = [fields["number"], fields["timestamp"], fields["gasLimit"]].map(parseQuantity);
  if (number === undefined || timestamp === undefined || gasLimit === undefined) return undefined;
  return { number, timestamp, gasLimit, baseFee: parseQuantity(fields["baseFeePerGas"]) };
}
