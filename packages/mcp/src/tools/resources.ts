import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { SottoError } from "@sotto/protocol";
import { type Agent, reported } from "../agent/agent.ts";
import { limitsLeft, namedLeft } from "../agent/limits.ts";

const json = (uri: URL, value: unknown) => ({
  contents: [{ uri: uri.href, mimeType: "application/json", text: JSON.stringify(value, null, 2) }],
});

const MAX_LISTED = 100;

/** Registers sotto://policy, sotto://receipts and sotto://receipts/{id}. */
export function registerResources(mcp: McpServer, agent: Agent): void {
  const { token, service, registry, privateNetworks, responseLimit, approvalMs } = agent;
  const readable = async <T>(action: () => Promise<T>): Promise<T> => {
    try {
      return await action();
    } catch (error) {
      const { code, message } = reported(error, agent);
      throw new McpError(ErrorCode.InternalError, `${code}: ${message}`);
    }
  };
  mcp.registerResource(
    "policy",
    "sotto://policy",
    { title: "Policy", description: "What this wallet lets agents spend and reach.", mimeType: "application/json" },
    (uri, { signal }) =>
      readable(() =>
        agent.use(async (wallet) => {
          const { limits } = agent;
          return json(uri, {
            limits: await limitsLeft(wallet, limits, token, undefined),
            per_host_and_day: String(limits.perHost),
            per_hour: limits.perHour === undefined ? null : String(limits.perHour),
            per_day: String(limits.perDay),
            ...(await namedLeft(wallet, limits, token)),
            service: service ?? null,
            registry: registry ?? null,
            chain_id: String(wallet.pool.chainId),
            private_networks: privateNetworks,
            response_limit_bytes: responseLimit,
            approval_timeout_ms: approvalMs,
          });
        }, signal),
      ),
  );
  mcp.registerResource(
    "receipts",
    "sotto://receipts",
    {
      title: "Receipts",
      description: `The newest ${MAX_LISTED} settled payments. Read sotto://receipts/ID for the receipt of one.`,
      mimeType: "application/json",
    },
    (uri, { signal }) =>
      readable(() =>
        agent.use(async (wallet) => {
          await wallet.scan({ signal });
          const all = await wallet.payments({ decimals: token.decimals, direction: "out" });
          const settled = all
            .filter(({ state }) => state === "settled")
            .reverse()
            .slice(0, MAX_LISTED);
          return json(
            uri,
            settled.map(({ id, amount, resource, settled: time }) => ({
              uri: `sotto://receipts/${id}`,
              amount: String(amount),
              resource,
              time,
            })),
          );
        }, signal),
      ),
  );
  mcp.registerResource(
    "receipt",
    new ResourceTemplate("sotto://receipts/{id}", { list: undefined }),
    {
      title: "Receipt",
      description:
        "Proves to a verifier that this wallet made one payment. Anyone who has it can show it; to prove it to one verifier " +
        "only, use `sotto receipt --challenge`.",
      mimeType: "application/json",
    },
    (uri, { id }, { signal }) =>
      readable(() =>
        agent.use(async (wallet) => {
          await wallet.scan({ signal });
          try {
            return json(uri, { receipt: await wallet.receipt(String(id)), unavailable: null });
          } catch (error) {
            if (!(error instanceof SottoError) || error.code === "UNKNOWN_PAYMENT") throw error;
            return json(uri, { receipt: null, unavailable: reported(error, agent) });
          }
        }, signal),
      ),
  );
}
