// A node like that of a rollup whose contracts see another chain's block number: it counts its blocks from another start.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { postAlone } from "@sotto/test-kit/http";

/** What the node adds to the number that contracts see. */
export const BLOCKS_APART = 400_000_000;

/** Position of the block in the parameters of each method that has one. */
const BLOCK_PARAMETER: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
  eth_getBlockByNumber: 0,
  eth_feeHistory: 1,
};

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

interface Response {
  readonly id: number;
  readonly result?: unknown;
}

const shift = (value: unknown, by: number): unknown =>
  typeof value === "string" && /^0x[0-9a-f]{1,8}$/.test(value) ? `0x${(Number(value) + by).toString(16)}` : value;

function shiftRequest(request: Request): Request {
  const { method, params = [] } = request;
  if (method === "eth_getLogs") {
    const filter = params[0] as { fromBlock?: unknown; toBlock?: unknown };
    const [fromBlock, toBlock] = [filter.fromBlock, filter.toBlock].map((block) => shift(block, -BLOCKS_APART));
    return { ...request, params: [{ ...filter, fromBlock, toBlock }] };
  }
  const position = BLOCK_PARAMETER[method];
  return {
    ...request,
    params: params.map((param, index) => (index === position ? shift(param, -BLOCKS_APART) : param)),
  };
}

/** Adds the offset to the number of every block in a result: its own, and those that transactions and logs name. */
function shiftResult(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shiftResult);
  if (typeof value !== "object" || value === null) return value;
  const isBlock = "parentHash" in value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => {
      const names = key === "blockNumber" || key === "oldestBlock" || (isBlock && key === "number");
      return [key, names ? shift(field, BLOCKS_APART) : shiftResult(field)];
    }),
  );
}

/** Starts the node in front of another one. */
export async function startRollupNode(target: string): Promise<{ url: string; stop(): Promise<void> }> {
  const headers = { "content-type": "application/json" };
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Request | Request[];
    const methods = new Map([asked].flat().map(({ id, method }) => [id, method]));
    const body = JSON.stringify(Array.isArray(asked) ? asked.map(shiftRequest) : shiftRequest(asked));
    const answered = (await (await postAlone(target, headers, body)).json()) as Response | Response[];
    const shifted = (response: Response): Response => {
      if (!("result" in response)) return response;
      const isNumber = methods.get(response.id) === "eth_blockNumber";
      const result = isNumber ? shift(response.result, BLOCKS_APART) : shiftResult(response.result);
      return { ...response, result };
    };
    const text = JSON.stringify(Array.isArray(answered) ? answered.map(shifted) : shifted(answered));
    outgoing.writeHead(200, headers).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
