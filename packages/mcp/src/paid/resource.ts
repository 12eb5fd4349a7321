// The resource that a payment for a tool is bound to: the server's origin, the tool's name and its arguments.
import { createHash } from "node:crypto";
import { AgentError } from "../errors.ts";

/**
 * JSON with sorted keys: the same for equal values. Bigints in parsed arguments count as their decimal text.
 *
 * @throws AgentError MCP_OPTION_INVALID for a Map, a Set or another object that JSON would write as {}: all would be equal
 */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) => {
    if (typeof item === "bigint") return String(item);
    if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
    if (![Object.prototype, null].includes(Object.getPrototypeOf(item) as object | null))
      throw new AgentError("MCP_OPTION_INVALID", "the arguments of a paid tool must be JSON values, bigints or dates");
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });

/** Names that MCP recommends; in a URL they need no encoding. */
const NAME = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,128}$/;

export const isToolName = (name: string): boolean => NAME.test(name);

/** The request target of a call, for the paywall. */
export function targetOf(name: string, args: unknown): string {
  const hash = createHash("sha256").update(canonicalJson(args)).digest("hex");
  return `${pathOf(name)}?arguments=${hash}`;
}

/** The path of a tool, in the resources of its calls and in signed terms. */
export const pathOf = (name: string): string => `/mcp/tool/${name}`;

/** Whether a resource is a call of this tool of this server. Only the server knows how it parsed the arguments. */
export function isCallOf(resource: string, origin: string, name: string): boolean {
  const before = `${origin}${pathOf(name)}?arguments=`;
  return resource.startsWith(before) && /^[0-9a-f]{64}$/.test(resource.slice(before.length));
}
