/** Sends a JSON-RPC request. @throws the provider's error */
export type Ask = (method: string, params: unknown[]) => Promise<unknown>;

/** Hardhat's code for an unreadable response. */
const UNREADABLE = -1;
/** The code of nodes and of Hardhat for too many requests. Besu and Infura also use it for too many blocks or logs. */
const LIMIT_EXCEEDED = -32005;

/** The code of a node's JSON-RPC error, which Hardhat's error has and that of ethers contains; undefined without an answer. */
function codeOf(error: unknown): number | undefined {
  const { code, error: inner, info } = Object(error) as { code?: unknown; error?: unknown; info?: { error?: unknown } };
  const found = [code, ...[inner, info?.error].map((nested) => (Object(nested) as { code?: unknown }).code)];
  return found.find((value): value is number => typeof value === "number" && value !== UNREADABLE);
}

/**
 * Like `ask`, but undefined if the node refuses the request.
 * @param isLarge whether a limit that is exceeded can be that of this request, and not that of requests per second
 * @throws the provider's error if the node does not answer
 */
export async function askOr(ask: Ask, method: string, params: unknown[], isLarge = false): Promise<unknown> {
  try {
    return await ask(method, params);
  } catch (error) {
    const code = codeOf(error);
    if (code !== undefined && (isLarge || code !== LIMIT_EXCEEDED)) return undefined;
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
