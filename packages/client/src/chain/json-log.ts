import type { RawLog } from "./source.ts";

const HASH = /^0x[0-9a-f]{64}$/;
const QUANTITY = /^0x[0-9a-f]{1,13}$/i;

/**
 * The answer to eth_getLogs, with the times of the blocks where the node gives them: ethers drops them. Topics and data
 * are looked at by who decodes them.
 * @throws Error for anything else
 */
export function readLogs(answer: unknown): RawLog[] {
  if (!Array.isArray(answer)) throw malformed();
  return answer.map(readLog);
}

function readLog(value: unknown): RawLog {
  const { topics, data, blockHash, transactionHash, ...numbers }: Record<string, unknown> = Object(value);
  const [blockNumber, logIndex] = [quantity(numbers["blockNumber"]), quantity(numbers["logIndex"])];
  if (!Array.isArray(topics) || !topics.every((topic) => typeof topic === "string") || typeof data !== "string")
    throw malformed();
  if (!isHash(blockHash) || !isHash(transactionHash) || blockNumber === undefined || logIndex === undefined)
    throw malformed();
  const timestamp = quantity(numbers["blockTimestamp"]);
  return { topics, data, blockNumber, blockHash, transactionHash, logIndex, timestamp };
}

const isHash = (value: unknown): value is string => typeof value === "string" && HASH.test(value);

/** Hex, or a plain number, as some nodes give times. */
function quantity(value: unknown): number | undefined {
  const number = typeof value === "string" && QUANTITY.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

function malformed(): Error {
  return new Error("what the node gave is no list of logs");
}
